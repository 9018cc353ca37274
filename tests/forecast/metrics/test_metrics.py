"""Every metric of the union keeps the contract, and equals its definition and a peer's figure."""

from typing import get_args

import numpy as np
import polars as pl
import pytest
from utilsforecast import losses

from forecast.errors import QuantilesUnavailable
from forecast.forecast import Forecast
from forecast.metrics import Comparison, Coverage, Metric, Scores, WeightedQuantileLoss, standard_metrics

LEVELS = (0.05, 0.1, 0.5, 0.9, 0.95)
NUM_SERIES, NUM_WINDOWS, HORIZON = 3, 11, 6
METRIC_CLASSES = get_args(get_args(Metric)[0])


def make(kind: type) -> Metric:
    needed = {Coverage: {"lower": 0.1}, WeightedQuantileLoss: {"quantile_levels": LEVELS}}
    return kind(**needed.get(kind, {}))


@pytest.fixture
def series() -> np.ndarray:
    return np.sort(np.random.default_rng(1).integers(NUM_SERIES, size=NUM_WINDOWS))


@pytest.fixture
def comparison(series: np.ndarray) -> Comparison:
    random = np.random.default_rng(2)
    actual = random.normal(5, 3, (NUM_WINDOWS, HORIZON))
    observed = random.random((NUM_WINDOWS, HORIZON)) < 0.8
    quantiles = np.sort(random.normal(5, 3, (NUM_WINDOWS, HORIZON, len(LEVELS))), axis=2)
    return Comparison(
        forecast=Forecast(mean=quantiles.mean(axis=2), quantiles=quantiles, quantile_levels=LEVELS),
        actual=np.where(observed, actual, 0.0),
        observed=observed,
        unit=np.array([1.0, 2.0, 3.0])[series],
        seasonal_scale=np.array([0.5, 1.5, 4.0])[series],
    )


def perfect(comparison: Comparison) -> Forecast:
    quantiles = np.repeat(comparison.actual[:, :, None], len(LEVELS), axis=2)
    return Forecast(mean=comparison.actual, quantiles=quantiles, quantile_levels=LEVELS)


def with_forecast(comparison: Comparison, forecast: Forecast) -> Comparison:
    return Comparison(**{**vars(comparison), "forecast": forecast})


def scored(comparison: Comparison, series: np.ndarray) -> Scores:
    scores = Scores(standard_metrics(LEVELS), num_series=NUM_SERIES, horizon=HORIZON)
    scores.add(comparison, series=series)
    return scores


@pytest.fixture
def frame(comparison: Comparison, series: np.ndarray) -> pl.DataFrame:
    """The observed steps as the long frame that utilsforecast scores."""
    window, step = np.nonzero(comparison.observed)
    quantiles = {f"q{level}": comparison.quantile(level)[window, step] for level in LEVELS}
    columns = {"unique_id": series[window], "y": comparison.actual[window, step], **quantiles}
    columns |= {"mean": comparison.forecast.mean[window, step], "model": comparison.median[window, step]}
    columns |= {"model-lo-80": columns["q0.1"], "model-hi-80": columns["q0.9"]}
    return pl.DataFrame(columns).sort("unique_id", maintain_order=True)


def peer(figures: pl.DataFrame, column: str = "model") -> np.ndarray:
    return figures.sort("unique_id")[column].to_numpy()


@pytest.mark.parametrize("kind", METRIC_CLASSES)
def test_a_perfect_forecast_has_no_error_and_full_coverage(kind: type, comparison: Comparison):
    metric = make(kind)
    terms = metric.terms(with_forecast(comparison, perfect(comparison)))
    numerator = terms.numerator[comparison.observed].sum()
    expected = terms.weight[comparison.observed].sum() if isinstance(metric, Coverage) else 0.0
    assert numerator == expected


@pytest.mark.parametrize("kind", METRIC_CLASSES)
def test_values_at_unobserved_steps_weigh_nothing(kind: type, comparison: Comparison, series: np.ndarray):
    junk = np.where(comparison.observed, comparison.actual, 1e6)
    name = make(kind).name
    clean = scored(comparison, series)
    spoilt = scored(Comparison(**{**vars(comparison), "actual": junk}), series)
    assert spoilt.overall()[name] == clean.overall()[name]


@pytest.mark.parametrize("kind", METRIC_CLASSES)
def test_the_name_fits_a_tracking_store(kind: type):
    assert make(kind).name.replace("_", "").replace(".", "").isalnum()
    assert make(kind).label


@pytest.mark.parametrize("kind", METRIC_CLASSES)
def test_every_metric_of_the_union_is_shown_by_a_backtest(kind: type):
    assert kind in {type(metric) for metric in standard_metrics(LEVELS)}


def test_mse_equals_utilsforecast(comparison: Comparison, series: np.ndarray, frame: pl.DataFrame):
    expected = peer(losses.mse(frame, models=["mean"]), "mean")
    np.testing.assert_allclose(scored(comparison, series).by_series()["mse"], expected, rtol=1e-12)


def test_mae_equals_utilsforecast(comparison: Comparison, series: np.ndarray, frame: pl.DataFrame):
    expected = peer(losses.mae(frame, models=["model"]))
    np.testing.assert_allclose(scored(comparison, series).by_series()["mae"], expected, rtol=1e-12)


def test_smape_equals_utilsforecast_times_the_200_of_m4(
    comparison: Comparison, series: np.ndarray, frame: pl.DataFrame
):
    expected = 200 * peer(losses.smape(frame, models=["model"]))
    np.testing.assert_allclose(scored(comparison, series).by_series()["smape"], expected, rtol=1e-12)


def test_coverage_equals_utilsforecast(comparison: Comparison, series: np.ndarray, frame: pl.DataFrame):
    expected = peer(losses.coverage(frame, models=["model"], level=80))
    np.testing.assert_allclose(scored(comparison, series).by_series()["coverage_80"], expected, rtol=1e-12)


def test_wql_equals_twice_the_quantile_loss_of_utilsforecast_over_the_size_of_the_actuals(
    comparison: Comparison, series: np.ndarray, frame: pl.DataFrame
):
    columns = {"model": [f"q{level}" for level in LEVELS]}
    loss = peer(losses.mqloss(frame, models=columns, quantiles=np.array(LEVELS)))
    size = peer(frame.group_by("unique_id").agg(pl.col("y").abs().mean()), "y")
    np.testing.assert_allclose(scored(comparison, series).by_series()["wql"], 2 * loss / size, rtol=1e-12)


def test_standardised_errors_are_errors_of_standardised_values(comparison: Comparison, series: np.ndarray):
    unit = np.array([1.0, 2.0, 3.0])
    figures = scored(comparison, series).by_series()
    np.testing.assert_allclose(figures["standardised_mse"], figures["mse"] / unit**2, rtol=1e-12)
    np.testing.assert_allclose(figures["standardised_mae"], figures["mae"] / unit, rtol=1e-12)


def test_smape_of_zero_forecast_for_zero_is_zero(comparison: Comparison, series: np.ndarray):
    zero = Comparison(**{**vars(comparison), "actual": np.zeros((NUM_WINDOWS, HORIZON))})
    assert scored(with_forecast(zero, perfect(zero)), series).overall()["smape"] == 0.0


def test_a_point_forecast_is_scored_as_a_distribution_without_spread(comparison: Comparison, series: np.ndarray):
    mean = comparison.forecast.mean
    flat = Forecast(mean=mean, quantiles=np.repeat(mean[:, :, None], len(LEVELS), axis=2), quantile_levels=LEVELS)
    points = Forecast(mean=mean, quantiles=np.empty((NUM_WINDOWS, HORIZON, 0)), quantile_levels=())
    figures = [scored(with_forecast(comparison, forecast), series).overall() for forecast in (flat, points)]
    assert figures[0] == figures[1]


def test_a_level_that_was_not_forecast_is_refused(comparison: Comparison):
    with pytest.raises(QuantilesUnavailable, match=r"0\.25"):
        Coverage(lower=0.25).terms(comparison)


def test_intervals_come_from_symmetric_pairs_alone():
    names = [metric.name for metric in standard_metrics((0.005, 0.1, 0.3, 0.5, 0.9, 0.995))]
    assert [name for name in names if name.startswith("coverage")] == ["coverage_99", "coverage_80"]


def test_an_interval_that_holds_too_much_is_as_wrong_as_one_that_holds_too_little():
    interval = Coverage(lower=0.1)
    assert interval.shortfall(0.9) == pytest.approx(interval.shortfall(0.7))
    assert interval.shortfall(0.8) == pytest.approx(0)


def test_without_levels_only_point_metrics_are_shown():
    assert not {type(metric) for metric in standard_metrics(())} & {WeightedQuantileLoss, Coverage}
