"""Several targets of one entity: forecast each by itself, or seeing each other in the encoder."""

from typing import Literal

import numpy as np
import polars as pl
import pytest
import torch

from forecast.artifact import Artifact, load_artifact, save_artifact
from forecast.card import describe
from forecast.config import build_config
from forecast.frames.contract import Columns, DataContract, Prepared, prepare
from forecast.model.config import ModelConfig
from forecast.model.transformer import ForecastModel
from forecast.predictor import Predictor
from tests.tiny_model import SPREAD, tiny_history

Channels = Literal["independent", "mixed"]
CONTRACT = DataContract(columns=Columns(target=("load", "wind")))
TARGETS = ("load", "wind")


def history(**changes: float) -> pl.DataFrame:
    """Two entities with two targets each; `changes` are added to a target of entity `a` at its newest step."""
    frame = tiny_history().with_columns(load=pl.col("y"), wind=20 - pl.col("y") / 3).drop("y")
    newest = (pl.col("unique_id") == "a") & (pl.col("ds") == pl.col("ds").max())
    return frame.with_columns(
        pl.when(newest).then(pl.col(name) + change).otherwise(name).alias(name) for name, change in changes.items()
    )


def predictor(channels: Channels, *, prepared: Prepared | None = None) -> Predictor:
    prepared = prepared or prepare(history(), CONTRACT)
    plain = {
        "context_length": 24,
        "horizon": 6,
        "patch_length": 4,
        "layer": {"d_model": 8, "num_heads": 2},
        "decoder": {"kind": "autoregressive", "patch_length": 2},
        "channels": channels,
    }
    torch.manual_seed(3)
    model = ForecastModel(build_config(ModelConfig, plain), channels=TARGETS)
    for tensor in model.state_dict().values():
        tensor.copy_(torch.randn_like(tensor) * SPREAD)
    card = describe(model, prepared, name="two", contract=CONTRACT, ends=prepared.panel.lengths, backtest={})
    return Predictor(Artifact(model, card))


def means(frame: pl.DataFrame, *, entity: str, target: str) -> np.ndarray:
    return frame.filter((pl.col("unique_id") == entity) & (pl.col("target_name") == target))["mean"].to_numpy()


@pytest.mark.parametrize("channels", ["independent", "mixed"])
def test_an_answer_says_which_target_each_row_is_of(channels: Channels) -> None:
    answer = predictor(channels).predict(history())
    assert answer.columns[:3] == ["unique_id", "ds", "target_name"]
    keys = answer.select("unique_id", "target_name").unique(maintain_order=True).rows()
    assert keys == [(entity, target) for entity in ("a", "b") for target in TARGETS]
    assert len(answer) == 2 * 2 * 6


def test_independent_channels_do_not_see_each_other() -> None:
    model = predictor("independent")
    before, after = model.predict(history()), model.predict(history(wind=5.0))
    np.testing.assert_array_equal(means(before, entity="a", target="load"), means(after, entity="a", target="load"))


def test_mixed_channels_see_each_other_and_no_other_entity() -> None:
    model = predictor("mixed")
    before, after = model.predict(history()), model.predict(history(wind=5.0))
    assert not np.allclose(means(before, entity="a", target="load"), means(after, entity="a", target="load"))
    for target in TARGETS:
        one, other = means(before, entity="b", target=target), means(after, entity="b", target=target)
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("channels", ["independent", "mixed"])
def test_an_entity_alone_is_forecast_as_in_company(channels: Channels) -> None:
    model = predictor(channels)
    alone = model.predict(history().filter(pl.col("unique_id") == "b"))
    together = model.predict(history()).filter(pl.col("unique_id") == "b")
    np.testing.assert_allclose(alone["mean"], together["mean"], rtol=1e-5)


@pytest.mark.parametrize("channels", ["independent", "mixed"])
def test_sample_paths_of_an_entity_alone_are_those_in_company_also_beyond_the_trained_horizon(
    channels: Channels,
) -> None:
    model, asked = predictor(channels), {"horizon": 15, "num_samples": 8}
    alone = model.predict(history().filter(pl.col("unique_id") == "b"), **asked)
    together = model.predict(history(), **asked).filter(pl.col("unique_id") == "b")
    np.testing.assert_allclose(alone["mean"], together["mean"], rtol=1e-5)
    np.testing.assert_allclose(alone["0.9"], together["0.9"], rtol=1e-5)


def test_mixed_channels_are_told_apart_by_name_and_not_by_the_order_of_columns() -> None:
    model = predictor("mixed")
    answer = model.predict(history().select("wind", "ds", "load", "unique_id"))
    np.testing.assert_array_equal(answer["mean"], model.predict(history())["mean"])


def test_a_model_of_mixed_channels_is_saved_and_loaded(tmp_path) -> None:
    model = predictor("mixed")
    loaded = Predictor(load_artifact(save_artifact(model.artifact, tmp_path / "two")))
    assert loaded.card.channels == TARGETS
    np.testing.assert_allclose(loaded.predict(history())["mean"], model.predict(history())["mean"], rtol=1e-6)


def test_an_entity_goes_as_a_whole_where_one_target_is_at_fault() -> None:
    frame = history(wind=float("inf"))
    with pytest.warns(UserWarning, match=r"a/wind.*infinite"):
        answer = predictor("mixed").predict(frame)
    assert answer["unique_id"].unique().to_list() == ["b"]
