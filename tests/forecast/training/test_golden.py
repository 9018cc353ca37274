"""The first losses of two small runs, from rows to epochs: they move only when the method does."""

import pytest

from forecast.config import build_config
from forecast.frames.contract import prepare
from pipelines.config import RunConfig
from pipelines.flows.fit import fit_panel

MODELS = {
    "quantiles_step_by_step": {"patch_length": 1, "decoder": {"kind": "autoregressive", "patch_length": 2}},
    "point_from_a_draft": {
        "patch_length": 4,
        "decoder": {"kind": "direct", "patch_length": 4},
        "head": {"kind": "mae"},
        "draft": {"kind": "ridge"},
        "loss_unit": "window",
    },
}


def losses(name: str, folder) -> dict[str, float]:
    model = {
        "context_length": 16,
        "horizon": 8,
        "num_encoder_layers": 1,
        "layer": {"d_model": 16, "num_heads": 2, "dropout": 0.0},
        **MODELS[name],
    }
    plain = {
        "name": "golden",
        "seed": 3,
        "data": {"kind": "sine"},
        "model": model,
        "trainer": {"max_epochs": 2, "batch_size": 64, "stride": 40, "validation_stride": 40, "device": "cpu"},
    }
    config = build_config(RunConfig, plain)
    fitted = fit_panel(config, prepare(config.source.read(), config.contract).panel, folder=folder)
    return {
        f"{name}.{metric}.{epoch}": metrics[metric]
        for epoch, metrics in enumerate(fitted.fit.epochs)
        for metric in ("train_loss", "validation_loss")
    }


@pytest.mark.golden
def test_first_losses_are_those_kept(golden, tmp_path):
    golden("first_losses", {key: loss for name in MODELS for key, loss in losses(name, tmp_path / name).items()})
