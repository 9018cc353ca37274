"""Small models of every kind that are told covariates of every role, and windows for them."""

from dataclasses import replace
from typing import Any

import torch

from forecast.batch import Batch, CovariateWindows
from forecast.config import build_config
from forecast.covariate_scales import CovariateScales
from forecast.frames.covariates import Covariate, CovariateSchema
from forecast.linear import LinearMap
from forecast.model.transformer import ForecastModel, ModelConfig
from tests.forecast.model.kinds import CONTEXT, DECODER, HORIZON, KINDS, make_batch

SCHEMA = CovariateSchema(
    past=(Covariate(name="wind"), Covariate(name="sky", kind="categorical", levels=("rain", "sun"))),
    future=(Covariate(name="price"), Covariate(name="event", kind="categorical", levels=("fair", "game", "none"))),
    calendar=(Covariate(name="hour"),),
    static=(Covariate(name="area"), Covariate(name="region", kind="categorical", levels=("east", "west"))),
)
NAMES = [covariate.name for covariate in SCHEMA.steps]


def told_model(kind: str, **changes: Any) -> ForecastModel:
    """One kind with random weights, in evaluation mode; covariates reach every output."""
    torch.manual_seed(12)
    plain = {"context_length": CONTEXT, "horizon": HORIZON, "patch_length": 4, "decoder": DECODER}
    plain |= {**KINDS[kind], **changes}
    plain["layer"] = {"d_model": 16, "num_heads": 2, **plain.get("layer", {})}
    model = ForecastModel(build_config(ModelConfig, plain), covariates=SCHEMA)
    torch.nn.init.normal_(model.decoder.output.projection.weight, std=0.3)
    torch.nn.init.normal_(model.decoder.output.highway[-1].weight, std=0.3)
    for name, weights in model.named_parameters():
        if "embeddings" in name:
            torch.nn.init.normal_(weights.data[1:])
    model.install_covariate_scales(CovariateScales(steps=_scale(len(NAMES)), static=_scale(2)))
    if model.draft is not None:
        model.install_draft(LinearMap(torch.randn(model.config.draft_context, HORIZON, dtype=torch.float64) / CONTEXT))
    if kind == "a fitted power with a draft":
        model.transform.power.fill_(0.3)
    return model.eval()


def _scale(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.full((count,), 0.5, dtype=torch.float64), torch.full((count,), 2.0, dtype=torch.float64)


def told_batch(size: int = 3, *, context: int = CONTEXT, known: int = HORIZON) -> Batch:
    """Windows whose covariates are known `known` steps ahead; each column is unknown here and there in the past."""
    generator = torch.Generator().manual_seed(5)
    length = context + known
    steps = torch.randn(size, length, len(NAMES), generator=generator, dtype=torch.float64)
    for name, num_codes in (("sky", 3), ("event", 4)):
        codes = torch.randint(0, num_codes, (size, length), generator=generator)
        steps[..., NAMES.index(name)] = codes.double()
    observed = torch.rand(steps.shape, generator=generator) > 0.2
    observed[:, context:] = True
    num_past = len(SCHEMA.past)
    observed[:, context:, :num_past] = False
    region = torch.arange(size, dtype=torch.float64) % 3
    covariates = CovariateWindows(
        steps=torch.where(observed, steps, 0.0),
        steps_observed=observed,
        static=torch.stack([torch.linspace(-1, 1, size, dtype=torch.float64), region], dim=1),
        static_observed=torch.ones(size, 2, dtype=torch.bool),
    )
    return replace(make_batch(size, context=context), covariates=covariates)


def with_cell(batch: Batch, name: str, step: int, value: float) -> Batch:
    """Windows that are told another value at one step of past and horizon together, known as it was."""
    assert batch.covariates is not None
    steps = batch.covariates.steps.clone()
    steps[:, step, NAMES.index(name)] = value
    return replace(batch, covariates=replace(batch.covariates, steps=steps))
