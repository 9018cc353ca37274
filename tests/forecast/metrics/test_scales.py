"""The seasonal scale of MASE comes from the observed pairs of the training part, or is said to be none."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from utilsforecast import losses

from forecast.forecast import Forecast
from forecast.metrics import Comparison, Scores, SeriesScales, seasonal_scales, standard_metrics

SEASON = 4
STEPS = 40


def scales_of(panel, *, end: int) -> np.ndarray:
    return seasonal_scales(panel, ends=np.full(len(panel), end), season_length=SEASON)


def test_mase_equals_utilsforecast(panel_of: Callable):
    random = np.random.default_rng(3)
    values = {"a": random.normal(size=STEPS).cumsum(), "b": random.normal(size=STEPS) * 50}
    panel = panel_of(**values)
    scale = scales_of(panel, end=30)
    actual = np.stack([series[30:] for series in values.values()])
    guess = actual + random.normal(size=actual.shape)
    scores = Scores(standard_metrics(()), num_series=2, horizon=10)
    forecast = Forecast(mean=guess, quantiles=np.empty((2, 10, 0)), quantile_levels=())
    everything = np.ones_like(actual, dtype=bool)
    scores.add(
        Comparison(forecast=forecast, actual=actual, observed=everything, unit=np.ones(2), seasonal_scale=scale),
        series=np.arange(2),
    )
    frame = pl.DataFrame({"unique_id": np.repeat(["a", "b"], 10), "y": actual.ravel(), "model": guess.ravel()})
    train = pl.DataFrame(
        {
            "unique_id": np.repeat(["a", "b"], 30),
            "ds": np.tile(np.arange(30), 2),
            "y": np.concatenate([series[:30] for series in values.values()]),
        }
    )
    expected = losses.mase(frame, models=["model"], seasonality=SEASON, train_df=train).sort("unique_id")["model"]
    np.testing.assert_allclose(scores.by_series()["mase"], expected.to_numpy(), rtol=1e-12)
    assert scores.overall()["mase"] == pytest.approx(expected.mean(), rel=1e-12)


def test_nothing_after_the_training_part_moves_the_scale(panel_of: Callable):
    values = np.random.default_rng(4).normal(size=STEPS)
    corrupted = np.concatenate([values[:30], np.full(10, 1e9)])
    assert scales_of(panel_of(a=values), end=30) == scales_of(panel_of(a=corrupted), end=30)


def test_pairs_with_a_missing_step_do_not_count(panel_of: Callable):
    values = np.arange(12.0)
    values[5] = np.nan
    values[7] = 100.0
    pairs = [(0, 4), (2, 6), (3, 7), (4, 8), (6, 10), (7, 11)]  # all but those with step 5
    expected = np.mean([abs(values[late] - values[early]) for early, late in pairs])
    assert scales_of(panel_of(a=values), end=12)[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    "values",
    [
        np.full(STEPS, 3.7),
        np.sin(2 * np.pi * np.arange(STEPS) / SEASON) + 0.1,
        np.where(np.arange(STEPS) == 0, 1.0, np.nan),
        np.arange(STEPS, dtype=float)[:SEASON],
    ],
    ids=["constant", "seasonally perfect", "one observation", "one season"],
)
def test_a_series_without_seasonal_error_has_no_scale(panel_of: Callable, values: np.ndarray):
    other = np.random.default_rng(5).normal(size=STEPS)
    panel = panel_of(a=other, b=values)
    ends = np.array([STEPS, len(values)])
    np.testing.assert_array_equal(seasonal_scales(panel, ends=ends, season_length=SEASON) > 0, [True, False])


def test_scales_are_held_by_series(panel_of: Callable):
    panel = panel_of(a=np.arange(STEPS), b=2.0 * np.arange(STEPS))
    ends = np.full(2, STEPS)
    scales = SeriesScales.measure(panel, ends=ends, units=np.array([3.0, 5.0]), season_length=SEASON)
    np.testing.assert_array_equal(scales.unit, [3.0, 5.0])
    np.testing.assert_allclose(scales.seasonal, [SEASON, 2 * SEASON])
