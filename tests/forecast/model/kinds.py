"""Small models of every kind, each with weights that make a difference, and windows for them."""

from typing import Any

import torch

from forecast.batch import Batch
from forecast.config import build_config
from forecast.linear import LinearMap
from forecast.model.transformer import ForecastModel, ModelConfig

CONTEXT, HORIZON = 30, 12

KINDS: dict[str, dict[str, Any]] = {
    "autoregressive": {},
    "autoregressive by step": {"decoder": {"kind": "autoregressive"}, "patch_length": 1},
    "autoregressive from a label": {"decoder": {"kind": "autoregressive", "patch_length": 4, "label_length": 8}},
    "autoregressive with a draft": {"draft": {"kind": "ridge"}},
    "direct": {"decoder": {"kind": "direct", "patch_length": 4}},
    "direct with a draft": {"decoder": {"kind": "direct", "patch_length": 4}, "draft": {"kind": "ridge"}},
    "direct with a short draft": {
        "decoder": {"kind": "direct", "patch_length": 4},
        "draft": {"kind": "ridge", "level": "newest", "context_length": 20},
    },
    "from the newest value": {
        "scaling": {"kind": "newest_std"},
        "decoder": {"kind": "autoregressive", "patch_length": 5},
    },
    "measured by its newest steps": {"scaling": {"kind": "mean_std", "newest": 12}},
    "learned positions, post-norm": {"position": {"kind": "learned"}, "layer": {"norm_position": "post"}},
    "no positions, rms, swiglu": {
        "position": {"kind": "none"},
        "layer": {"norm": "rms", "feed_forward": {"kind": "swiglu"}},
    },
    "rope": {"position": {"kind": "rope"}},
    "direct, rope, patches of another length": {
        "position": {"kind": "rope"},
        "decoder": {"kind": "direct", "patch_length": 6},
    },
    "alibi from a label": {
        "position": {"kind": "alibi", "num_flat_heads": 1},
        "decoder": {"kind": "autoregressive", "patch_length": 4, "label_length": 8},
    },
    "direct, learned alibi": {
        "position": {"kind": "alibi", "learned": True},
        "decoder": {"kind": "direct", "patch_length": 4},
    },
    "relative": {"position": {"kind": "relative"}},
    "local": {
        "pattern": {"kind": "local", "left": 2, "right": 1},
        "decoder": {"kind": "autoregressive", "patch_length": 2, "pattern": {"kind": "local", "left": 2, "right": 0}},
    },
    "sparse": {
        "position": {"kind": "rope"},
        "pattern": {"kind": "sparse", "left": 1, "right": 1, "num_global": 1, "block_length": 2, "season": 3},
        "decoder": {
            "kind": "autoregressive",
            "patch_length": 2,
            "pattern": {"kind": "sparse", "left": 1, "num_global": 1, "block_length": 2, "causal": True},
        },
    },
    "linear": {
        "pattern": {"kind": "linear"},
        "decoder": {"kind": "autoregressive", "patch_length": 4, "pattern": {"kind": "linear", "causal": True}},
    },
    "linear of random features": {
        "pattern": {"kind": "linear", "features": {"kind": "random", "num_features": 24}},
        "decoder": {
            "kind": "autoregressive",
            "patch_length": 2,
            "pattern": {"kind": "linear", "features": {"kind": "random", "num_features": 24}, "causal": True},
        },
    },
    "student_t": {"head": {"kind": "student_t"}, "decoder": {"kind": "direct", "patch_length": 12}},
    "mse": {"head": {"kind": "mse"}},
    "mae": {"head": {"kind": "mae"}},
    "huber, relu": {"head": {"kind": "huber"}, "layer": {"feed_forward": {"kind": "relu"}}},
    "differences": {"transform": {"kind": "difference"}},
    "direct, differences of a season": {
        "transform": {"kind": "difference", "lag": 5},
        "decoder": {"kind": "direct", "patch_length": 4},
    },
    "log1p": {"transform": {"kind": "log1p"}, "decoder": {"kind": "autoregressive", "patch_length": 5}},
    "a fitted power with a draft": {"transform": {"kind": "box_cox"}, "draft": {"kind": "ridge"}},
    "logarithm, mae, never negative": {
        "transform": {"kind": "box_cox", "power": 0},
        "head": {"kind": "mae"},
        "non_negative": True,
    },
    "student_t, arcsinh": {
        "transform": {"kind": "arcsinh", "scale": 5.0},
        "head": {"kind": "student_t"},
        "decoder": {"kind": "direct", "patch_length": 12},
    },
}
AFFINE = [kind for kind, plain in KINDS.items() if plain.get("transform", {}).get("kind") in (None, "difference")]
"""Those whose forecast scales and shifts with its series."""
DECODER = {"kind": "autoregressive", "patch_length": 4}
"""Of the kinds that name none: few steps of decoding, for the sake of time."""


def make_model(kind: str, **changes: Any) -> ForecastModel:
    """Build one kind with random weights, its output layer included, in evaluation mode."""
    torch.manual_seed(11)
    plain = {
        "context_length": CONTEXT,
        "horizon": HORIZON,
        "patch_length": 4,
        "decoder": DECODER,
        **KINDS[kind],
        **changes,
    }
    plain["layer"] = {"d_model": 16, "num_heads": 2, **plain.get("layer", {})}
    model = ForecastModel(build_config(ModelConfig, plain))
    torch.nn.init.normal_(model.decoder.output.projection.weight, std=0.3)
    if model.draft is not None:
        shape = model.config.draft_context, HORIZON
        model.install_draft(LinearMap(torch.randn(shape, dtype=torch.float64) / CONTEXT))
    if kind == "a fitted power with a draft":
        model.transform.power.fill_(0.3)
    return model.eval()


def make_batch(size: int = 3, *, context: int = CONTEXT, horizon: int = HORIZON, seed: int = 3) -> Batch:
    """Draw windows of a noisy wave; one window has missing steps in past and future."""
    generator = torch.Generator().manual_seed(seed)
    steps = torch.arange(context + horizon, dtype=torch.float64)
    noise = torch.randn(size, context + horizon, generator=generator, dtype=torch.float64)
    values = 10 + 3 * torch.sin(steps / 3 + torch.arange(size)[:, None]) + 0.3 * noise
    observed = torch.ones_like(values, dtype=torch.bool)
    observed[0, 3:7] = False
    observed[0, context + 2 : context + 4] = False
    values = torch.where(observed, values, 0.0)
    return Batch(
        past=values[:, :context],
        past_observed=observed[:, :context],
        future=values[:, context:],
        future_observed=observed[:, context:],
        unit=torch.full((size,), 2.0, dtype=torch.float64),
    )
