"""A model that is told covariates of every role, and frames for it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import torch

from forecast.artifact import Artifact
from forecast.card import describe
from forecast.config import build_config
from forecast.frames.contract import DataContract, prepare
from forecast.frames.covariate_columns import CovariateColumns
from forecast.model.transformer import ForecastModel, ModelConfig
from tests.contract.faces import QUICK, Room
from tests.contract.inputs import frame_of
from tests.tiny_model import CONTEXT_LENGTH, HORIZON, SPREAD

LEVELS = ("fair", "game", "none")


def told_contract(**changes: Any) -> DataContract:
    return DataContract(
        frequency="h",
        covariates=CovariateColumns(past=("wind",), future=("price", "event"), static=("region",)),
        **changes,
    )


def told_frames(
    lengths: Mapping[str, int], *, horizon: int = HORIZON, seed: int = 0
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A history with covariates, and what is known of the steps after each series' end."""
    random = np.random.default_rng(seed)
    whole = frame_of({name: length + horizon for name, length in lengths.items()}, seed=seed)
    whole = whole.with_columns(
        wind=pl.Series(random.normal(size=len(whole))),
        price=pl.Series(random.normal(size=len(whole))),
        event=pl.Series(random.choice(LEVELS, size=len(whole))),
        region=pl.when(pl.col("unique_id") < "c").then(pl.lit("east")).otherwise(pl.lit("west")),
    )
    ahead = pl.int_range(pl.len()).over("unique_id") >= pl.len().over("unique_id") - horizon
    return whole.filter(~ahead), whole.filter(ahead).select("unique_id", "ds", "price", "event")


def told_room(rooms: Callable[..., Room], **changes: Any) -> Room:
    """The model behind every door; its vocabulary is `LEVELS` and two regions."""
    return rooms(contract=told_contract(**changes), artifact=_artifact(told_contract(**changes)))


MADE: dict[str, Artifact] = {}


def _artifact(contract: DataContract) -> Artifact:
    key = repr(contract)
    if key not in MADE:
        prepared = prepare(told_frames({"a": 60, "c": 60}, seed=1)[0], replace(contract, on_duplicate="first"))
        assert prepared.panel.covariates is not None
        plain = {
            "context_length": CONTEXT_LENGTH,
            "horizon": HORIZON,
            "patch_length": 4,
            "num_encoder_layers": 1,
            "layer": {"d_model": 8, "num_heads": 2},
            "decoder": QUICK,
        }
        torch.manual_seed(8)
        model = ForecastModel(build_config(ModelConfig, plain), covariates=prepared.panel.covariates.schema)
        for name, tensor in model.state_dict().items():
            if not name.endswith(("level", "spread")):
                tensor.copy_(torch.randn_like(tensor) * SPREAD)
        card = describe(model, prepared, name="told", contract=contract, ends=prepared.panel.lengths, backtest={})
        MADE[key] = Artifact(model.eval(), card)
    return MADE[key]
