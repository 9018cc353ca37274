"""A model of a few thousand weights, its artifact and a history to send it: random, never trained, quick."""

from datetime import datetime

import numpy as np
import polars as pl
import torch

from forecast.artifact import Artifact
from forecast.card import describe
from forecast.config import build_config
from forecast.frames.contract import DataContract, prepare
from forecast.model.transformer import ForecastModel, ModelConfig

CONTEXT_LENGTH, HORIZON = 24, 6
SPREAD = 0.3  # of the weights: the usual start of a model forecasts nothing but the mean of its context


def tiny_history(*, num_steps: int = 60, zone: str | None = None, ids: tuple[str, ...] = ("a", "b")) -> pl.DataFrame:
    """Hourly waves of different height, one a series."""
    start = datetime(2024, 3, 29)  # two days before the clocks of Europe go forward
    stamps = pl.datetime_range(start, interval="1h", end=start.replace(month=12), eager=True).head(num_steps)
    if zone is not None:
        stamps = stamps.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    waves = [(number + 1) * (10 + np.sin(np.arange(num_steps) / 3)) for number in range(len(ids))]
    return pl.concat(
        pl.DataFrame({"unique_id": [series] * num_steps, "ds": stamps, "y": wave})
        for series, wave in zip(ids, waves, strict=True)
    )


def tiny_model(**changes: object) -> ForecastModel:
    """A model with a draft and random weights."""
    plain = {
        "context_length": CONTEXT_LENGTH,
        "horizon": HORIZON,
        "patch_length": 4,
        "num_encoder_layers": 1,
        "layer": {"d_model": 8, "num_heads": 2},
        "decoder": {"kind": "autoregressive", "patch_length": 2},
        "draft": {"kind": "ridge"},
        **changes,
    }
    model = ForecastModel(build_config(ModelConfig, plain))
    for tensor in model.state_dict().values():
        tensor.copy_(torch.randn_like(tensor) * SPREAD)
    return model


def tiny_artifact(history: pl.DataFrame | None = None, **changes: object) -> Artifact:
    """The model with a card that says that it was trained on all but the newest ten steps of a history."""
    model, prepared = tiny_model(**changes), prepare(tiny_history() if history is None else history)
    card = describe(
        model,
        prepared,
        name="tiny",
        contract=DataContract(),
        ends=prepared.panel.lengths - 10,
        backtest={"mase": 0.5, "smape": float("nan")},
    )
    return Artifact(model, card)
