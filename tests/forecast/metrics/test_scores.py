"""Scores are exact sums: the same for every batch size, honest about what is undefined."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.forecast import Forecast
from forecast.metrics import Comparison, Scores, standard_metrics

LEVELS = (0.1, 0.5, 0.9)
NUM_SERIES, NUM_WINDOWS, HORIZON = 4, 40, 5
SCALES = np.array([1.0, 0.3, 0.0, 2.0])  # the third series has no seasonal scale


@pytest.fixture(scope="module")
def windows() -> tuple[Comparison, np.ndarray]:
    random = np.random.default_rng(7)
    series = np.repeat(np.arange(NUM_SERIES), NUM_WINDOWS // NUM_SERIES)
    quantiles = np.sort(random.normal(0, 100, (NUM_WINDOWS, HORIZON, 3)), axis=2)
    comparison = Comparison(
        forecast=Forecast(mean=quantiles.mean(axis=2), quantiles=quantiles, quantile_levels=LEVELS),
        actual=random.normal(0, 100, (NUM_WINDOWS, HORIZON)),
        observed=random.random((NUM_WINDOWS, HORIZON)) < 0.9,
        unit=np.full(NUM_WINDOWS, 3.0),
        seasonal_scale=SCALES[series],
    )
    return comparison, series


def some(comparison: Comparison, rows: slice) -> Comparison:
    return Comparison(
        forecast=Forecast(
            mean=comparison.forecast.mean[rows],
            quantiles=comparison.forecast.quantiles[rows],
            quantile_levels=LEVELS,
        ),
        actual=comparison.actual[rows],
        observed=comparison.observed[rows],
        unit=comparison.unit[rows],
        seasonal_scale=comparison.seasonal_scale[rows],
    )


def score(comparison: Comparison, series: np.ndarray, *, batch_size: int) -> Scores:
    scores = Scores(standard_metrics(LEVELS), num_series=NUM_SERIES, horizon=HORIZON)
    for first in range(0, len(series), batch_size):
        rows = slice(first, first + batch_size)
        scores.add(some(comparison, rows), series=series[rows])
    return scores


@given(batch_size=st.integers(1, NUM_WINDOWS))
def test_every_figure_is_the_same_to_the_last_bit_for_every_batch_size(windows, batch_size: int):
    comparison, series = windows
    whole = score(comparison, series, batch_size=NUM_WINDOWS)
    cut = score(comparison, series, batch_size=batch_size)
    assert cut.num_windows == whole.num_windows == NUM_WINDOWS
    assert cut.overall() == whole.overall()
    for name in whole.metrics:
        np.testing.assert_array_equal(cut.by_series()[name], whole.by_series()[name])
        np.testing.assert_array_equal(cut.by_step()[name], whole.by_step()[name])


def test_overall_is_the_mean_over_observed_steps_and_not_over_series(windows):
    comparison, series = windows
    error = np.abs(comparison.median - comparison.actual)[comparison.observed]
    figure = score(comparison, series, batch_size=NUM_WINDOWS).overall()["mae"]
    assert figure == pytest.approx(error.mean(), rel=1e-13)


def test_a_step_has_the_figure_of_its_own_column(windows):
    comparison, series = windows
    squares = (comparison.forecast.mean - comparison.actual) ** 2
    expected = [squares[comparison.observed[:, step], step].mean() for step in range(HORIZON)]
    np.testing.assert_allclose(score(comparison, series, batch_size=7).by_step()["mse"], expected, rtol=1e-13)


def test_mase_leaves_out_a_series_without_scale_and_counts_it(windows):
    comparison, series = windows
    scores = score(comparison, series, batch_size=NUM_WINDOWS)
    kept = comparison.observed & (comparison.seasonal_scale[:, None] > 0)
    scaled = np.abs(comparison.median - comparison.actual)[kept] / np.repeat(SCALES[series], HORIZON)[kept.ravel()]
    assert scores.overall()["mase"] == pytest.approx(scaled.mean(), rel=1e-13)
    assert scores.num_excluded("mase") == 1
    assert scores.num_excluded("mae") == 0
    np.testing.assert_array_equal(np.isnan(scores.by_series()["mase"]), [False, False, True, False])


def test_figures_over_nothing_are_undefined_and_never_better(windows):
    comparison, series = windows
    nothing = Scores(standard_metrics(LEVELS), num_series=NUM_SERIES, horizon=HORIZON)
    something = score(comparison, series, batch_size=NUM_WINDOWS)
    assert all(np.isnan(value) for value in nothing.overall().values())
    assert not nothing.better_than(something, "mase")
    assert not something.better_than(nothing, "mase")


def test_of_two_errors_the_lower_is_better(windows):
    comparison, series = windows
    far, near = (shifted(comparison, series, by=by) for by in (2.0, 1.0))
    assert near.better_than(far, "mase")
    assert not far.better_than(near, "mase")
    assert not near.better_than(near, "mase")


def test_of_two_coverages_the_nearer_to_its_promise_is_better(windows):
    comparison, series = windows
    everything = shifted(comparison, series, by=1.0)  # its intervals of 80 % hold every value
    nothing = shifted(comparison, series, by=3.0)
    assert everything.better_than(nothing, "coverage_80")
    assert not nothing.better_than(everything, "coverage_80")


def shifted(comparison: Comparison, series: np.ndarray, *, by: float) -> Scores:
    """Scores of a forecast that is off by `by`, with intervals that reach 2 to either side."""
    center = comparison.actual + by
    quantiles = np.stack([center - 2, center, center + 2], axis=2)
    forecast = Forecast(mean=center, quantiles=quantiles, quantile_levels=LEVELS)
    scores = Scores(standard_metrics(LEVELS), num_series=NUM_SERIES, horizon=HORIZON)
    scores.add(Comparison(**{**vars(comparison), "forecast": forecast}), series=series)
    return scores
