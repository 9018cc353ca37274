"""The laws of covariates, for every kind of model: who is told what, when, and what unknown cells change: nothing."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch

from forecast.artifact import Artifact, load_artifact, save_artifact
from forecast.batch import Batch
from forecast.card import describe
from forecast.errors import ColumnMissing
from forecast.forecast import Forecast
from forecast.frames.contract import DataContract, prepare
from forecast.losses import PointHead
from forecast.model.decoding import Target
from forecast.model.transformer import ForecastModel
from longcast import Forecaster
from tests.forecast.model.kinds import CONTEXT, HORIZON, KINDS
from tests.forecast.model.told import told_batch, told_model, with_cell

AUTOREGRESSIVE = [
    kind for kind, plain in KINDS.items() if plain.get("decoder", {}).get("kind", "autoregressive") == "autoregressive"
]
LEVELS = (0.1, 0.5, 0.77)


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest) -> ForecastModel:
    return told_model(request.param)


@pytest.fixture
def batch() -> Batch:
    return told_batch()


def run(model: ForecastModel, batch: Batch, *, horizon: int = HORIZON) -> Forecast:
    levels = () if isinstance(model.config.head, PointHead) else LEVELS
    return model.forecast(
        batch.past, batch.past_observed, horizon=horizon, quantile_levels=levels, covariates=batch.covariates
    )


def same(one: Forecast, other: Forecast) -> bool:
    return np.array_equal(one.mean, other.mean) and np.array_equal(one.quantiles, other.quantiles)


def taught(model: ForecastModel, batch: Batch) -> torch.Tensor:
    window, target = model._taught(batch)
    with torch.no_grad():
        return model.decoder.teach(model.know(window.given), target)


def swings(batch: Batch) -> Iterator[float]:
    for past, seen in zip(batch.past.numpy(), batch.past_observed.numpy(), strict=True):
        yield past[seen].std()


def assert_close(actual: np.ndarray, expected: np.ndarray, batch: Batch) -> None:
    for row, swing in enumerate(swings(batch)):
        np.testing.assert_allclose(actual[row], expected[row], atol=1e-5 * swing, rtol=1e-5)


# ---- Who is told what


@pytest.mark.parametrize("name", ["wind", "sky", "price", "event", "hour"])
@pytest.mark.parametrize("kind", ["autoregressive", "direct with a draft", "learned positions, post-norm"])
def test_every_covariate_of_the_past_counts(kind: str, name: str, batch: Batch) -> None:
    assert batch.covariates is not None
    known = replace(batch.covariates, steps_observed=torch.ones_like(batch.covariates.steps_observed))
    batch = replace(batch, covariates=known)
    model = told_model(kind)

    before, after = (run(model, with_cell(batch, name, CONTEXT - 1, value)).mean for value in (1.0, 2.0))

    assert (np.abs(after - before).max(axis=1) > 1e-6).all()


def test_a_covariate_known_ahead_reaches_the_forecast_of_its_own_step(model: ForecastModel, batch: Batch) -> None:
    for name in ("price", "event", "hour"):
        before, after = (run(model, with_cell(batch, name, CONTEXT + 5, value)).mean for value in (1.0, 2.0))
        assert (np.abs(after - before)[:, 5] > 1e-6).all()


def test_what_is_static_counts(model: ForecastModel, batch: Batch) -> None:
    assert batch.covariates is not None
    for place in range(2):
        static = batch.covariates.static.clone()
        static[:, place] = (static[:, place] + 1) % 3
        changed = replace(batch, covariates=replace(batch.covariates, static=static))
        assert (np.abs(run(model, changed).mean - run(model, batch).mean).max(axis=1) > 1e-6).all()


def test_a_covariate_of_the_past_alone_counts_for_nothing_in_the_horizon(model: ForecastModel, batch: Batch) -> None:
    assert batch.covariates is not None
    observed = torch.ones_like(batch.covariates.steps_observed)
    leaked = replace(
        batch, covariates=replace(batch.covariates, steps_observed=observed | batch.covariates.steps_observed)
    )
    leaked.covariates.steps_observed[:, :CONTEXT] = batch.covariates.steps_observed[:, :CONTEXT]
    for name in ("wind", "sky"):
        changed = with_cell(leaked, name, CONTEXT + 2, 1.0)
        assert same(run(model, changed), run(model, batch))
        assert torch.equal(taught(model, changed), taught(model, batch))


@pytest.mark.parametrize("kind", AUTOREGRESSIVE)
def test_what_is_known_ahead_reaches_no_earlier_patch(kind: str, batch: Batch) -> None:
    model = told_model(kind)
    patch, before = model.decoder.patch_length, taught(model, batch)
    for step in range(HORIZON):
        after = taught(model, with_cell(batch, "price", CONTEXT + step, 3.0))
        first = step // patch * patch
        assert torch.equal(after[:, :first], before[:, :first])
        assert (after[:, step] - before[:, step]).abs().max() > 1e-6


def test_beyond_the_trained_horizon_each_block_is_told_of_its_own_steps(model: ForecastModel) -> None:
    batch = told_batch(known=2 * HORIZON + 5)
    before = run(model, batch, horizon=2 * HORIZON + 5).mean
    for block, last in ((1, 2 * HORIZON), (2, 2 * HORIZON + 5)):
        after = run(model, with_cell(batch, "price", CONTEXT + last - 1, 3.0), horizon=2 * HORIZON + 5).mean
        assert np.array_equal(after[:, : block * HORIZON], before[:, : block * HORIZON])
        assert (np.abs(after - before)[:, last - 1] > 1e-6).all()


# ---- What changes nothing


@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), -7.0, 1.0])
def test_what_stands_in_unknown_cells_changes_nothing_to_the_bit(
    model: ForecastModel, batch: Batch, garbage: float
) -> None:
    assert batch.covariates is not None
    steps = torch.where(batch.covariates.steps_observed, batch.covariates.steps, garbage)
    changed = replace(batch, covariates=replace(batch.covariates, steps=steps))
    assert same(run(model, changed), run(model, batch))
    assert torch.equal(taught(model, changed), taught(model, batch))


@pytest.mark.parametrize("name", ["sky", "event"])
def test_a_category_that_training_never_saw_is_as_one_that_is_missing(
    model: ForecastModel, batch: Batch, name: str
) -> None:
    assert batch.covariates is not None
    place = [covariate.name for covariate in model.schema.steps].index(name)
    unknown, missing = batch.covariates.steps.clone(), batch.covariates.steps_observed.clone()
    unknown[:, ::3, place] = 0.0
    missing[:, ::3, place] = False
    one = replace(batch, covariates=replace(batch.covariates, steps=unknown))
    other = replace(batch, covariates=replace(batch.covariates, steps_observed=missing))
    assert same(run(model, one), run(model, other))
    assert np.isfinite(run(model, one).mean).all()


def test_batch_gives_what_its_windows_give_alone(model: ForecastModel, batch: Batch) -> None:
    together = run(model, batch)
    for row in range(len(batch.past)):
        alone = batch.rows(slice(row, row + 1))
        assert_close(run(model, alone).mean, together.mean[row : row + 1], alone)


def test_a_shorter_horizon_is_the_beginning_of_a_longer_one(model: ForecastModel, batch: Batch) -> None:
    long = run(model, batch)
    for horizon in (1, 5, 8):
        assert_close(run(model, batch, horizon=horizon).mean, long.mean[:, :horizon], batch)


@pytest.mark.parametrize("context", [1, 3, CONTEXT - 1])
def test_any_context_will_do(model: ForecastModel, context: int) -> None:
    assert np.isfinite(run(model, told_batch(context=context)).mean).all()


@pytest.mark.parametrize("kind", AUTOREGRESSIVE)
def test_cached_roll_out_equals_decoding_without_a_cache(kind: str, batch: Batch) -> None:
    model = told_model(kind)
    with torch.no_grad():
        window = model._window(batch.past, batch.past_observed, batch.covariates, horizon=HORIZON)
        cached = model.decoder.roll_out(model.know(window.given), horizon=HORIZON)
        patch, fed_back = model.decoder.patch_length, torch.zeros(len(batch.past), HORIZON)
        everything = torch.ones_like(fed_back, dtype=torch.bool)
        for first in range(0, HORIZON, patch):  # teach anew with all forecast so far: the whole prefix, no cache
            parameters = model.decoder.teach(model.know(window.given), Target(fed_back, everything))
            fed_back[:, first : first + patch] = parameters[:, first : first + patch, 0]
    torch.testing.assert_close(cached[..., 0], fed_back, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("far", [1e6, 1e300, -1e300])
def test_a_number_far_from_all_training_leaves_the_forecast_finite(
    model: ForecastModel, batch: Batch, far: float
) -> None:
    assert np.isfinite(run(model, with_cell(batch, "price", CONTEXT + 1, far)).mean).all()


# ---- Kept and used


def test_a_model_that_was_told_covariates_does_not_forecast_without_them(model: ForecastModel, batch: Batch) -> None:
    with pytest.raises(ColumnMissing, match="give wind, sky, price, event, hour, area, region"):
        run(model, replace(batch, covariates=None))


def test_a_saved_model_forecasts_the_same(model: ForecastModel, batch: Batch, tmp_path: Path) -> None:
    frame = pl.DataFrame({"ds": range(40), "y": [float(step % 5) for step in range(40)]})
    prepared = prepare(frame)
    card = describe(model, prepared, name="told", contract=DataContract(), ends=prepared.panel.lengths, backtest={})
    loaded = load_artifact(save_artifact(Artifact(model, card), tmp_path / "model"))
    assert loaded.card.covariates == model.schema
    assert same(run(loaded.model, batch), run(model, batch))


SMALL = {
    "name": "told",
    "split": {"kind": "fraction", "train": 0.8, "validation": 0.1},
    "model": {
        "context_length": 12,
        "horizon": 4,
        "patch_length": 4,
        "num_encoder_layers": 1,
        "layer": {"d_model": 16, "num_heads": 2, "dropout": 0.0},
        "decoder": {"kind": "autoregressive", "patch_length": 4},
    },
    "trainer": {"max_epochs": 10, "batch_size": 16, "device": "cpu", "optimizer": {"learning_rate": 0.02}},
}


def error(contract: dict[str, object], frame: pl.DataFrame) -> float:
    """How far from the truth the forecasts of the test part are, in the naive forecast's own error."""
    return Forecaster({**SMALL, "contract": contract}).fit(frame).backtest(frame)["longcast"].overall()["mase"]


def test_a_series_whose_future_a_covariate_sets_is_forecast_well_with_it_and_badly_without() -> None:
    price = np.random.default_rng(3).normal(size=240)
    frame = pl.DataFrame({"ds": range(240), "y": 20 + 5 * price, "price": price})

    with_it = error({"covariates": {"future": ["price"]}}, frame)
    without = error({}, frame.select("ds", "y"))

    assert with_it < 0.7 * without
