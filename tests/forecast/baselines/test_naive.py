"""Last value and seasonal naive copy what was observed, to the bit, and agree with statsforecast."""

from collections.abc import Callable

import numpy as np
import pytest
from statsforecast.models import Naive
from statsforecast.models import SeasonalNaive as StatsforecastSeasonalNaive

from forecast.baselines import LastValue, SeasonalNaive
from forecast.baselines.last_value import repeat_last
from forecast.baselines.seasonal_naive import repeat_season
from forecast.baselines.spread import lag_spreads, spread
from forecast.errors import ConfigError
from forecast.frames.panel import Panel

NAN = np.nan


def past(*values: float) -> tuple[np.ndarray, np.ndarray]:
    steps = np.array([values])
    return np.nan_to_num(steps), ~np.isnan(steps)


def test_last_value_equals_statsforecast():
    values = np.random.default_rng(1).normal(size=50)
    expected = Naive().forecast(y=values, h=9)["mean"]
    np.testing.assert_array_equal(repeat_last(*past(*values), 9)[0], expected)


@pytest.mark.parametrize("season_length", [1, 7, 24, 50])
@pytest.mark.parametrize("horizon", [1, 7, 60])
def test_seasonal_naive_equals_statsforecast(season_length: int, horizon: int):
    values = np.random.default_rng(2).normal(size=50)
    expected = StatsforecastSeasonalNaive(season_length=season_length).forecast(y=values, h=horizon)["mean"]
    np.testing.assert_array_equal(repeat_season(*past(*values), horizon, season_length)[0], expected)


def test_values_that_float32_would_lose_are_copied_exactly():
    large = float(2**53 + 2)
    assert repeat_last(*past(1.0, large), 2).tolist() == [[large, large]]
    assert repeat_season(*past(large, 0.1), 3, 2).tolist() == [[large, 0.1, large]]


def test_last_value_takes_the_newest_that_was_observed():
    assert repeat_last(*past(1.0, 2.0, NAN, NAN), 2).tolist() == [[2.0, 2.0]]


def test_seasonal_naive_reaches_back_to_the_newest_season_observed_at_the_phase():
    assert repeat_season(*past(1.0, 2.0, 3.0, 4.0, NAN, 6.0), 4, 3).tolist() == [[4.0, 2.0, 6.0, 4.0]]


def test_seasonal_naive_takes_the_newest_value_where_its_phase_was_never_observed():
    assert repeat_season(*past(NAN, 2.0, NAN, 5.0), 2, 2).tolist() == [[5.0, 5.0]]


def test_seasonal_naive_pads_a_context_that_is_no_whole_number_of_seasons():
    assert repeat_season(*past(9.0, 1.0, 2.0, 3.0), 4, 3).tolist() == [[1.0, 2.0, 3.0, 1.0]]


def test_the_season_is_that_of_the_frequency_unless_given(panel_of: Callable):
    panel = panel_of(a=np.arange(200.0))
    assert SeasonalNaive().context_for(panel, context_length=5) == 24
    assert SeasonalNaive(season_length=168).context_for(panel, context_length=200) == 200
    assert SeasonalNaive(season_length=168).name == "seasonal_naive_168"


def test_a_context_shorter_than_the_season_is_refused(panel_of: Callable):
    panel = panel_of(a=np.arange(100.0))
    settings = {"ends": np.array([80]), "units": np.ones(1), "horizon": 3, "quantile_levels": ()}
    with pytest.raises(ConfigError, match="at least 24 steps"):
        SeasonalNaive().fit(panel, context_length=23, **settings)


def test_the_spread_at_a_step_is_that_of_its_own_distance(panel_of: Callable):
    panel = panel_of(a=np.arange(100.0) ** 1.5)
    settings = {"ends": np.array([90]), "units": np.ones(1), "context_length": 30, "quantile_levels": (0.1, 0.9)}
    last = LastValue().fit(panel, horizon=50, **settings).spreads[0]
    season = SeasonalNaive().fit(panel, horizon=50, **settings).spreads[0]
    assert (np.diff(last[:, 1]) > 0).all(), "an ever steeper series is ever harder to repeat"
    np.testing.assert_array_equal(season[:24], np.repeat(season[:1], 24, axis=0))
    np.testing.assert_array_equal(season[23], last[23])
    np.testing.assert_array_equal(season[24], last[47])


def test_pairs_with_a_missing_step_are_no_errors(panel_of: Callable):
    panel: Panel = panel_of(a=[5.0, NAN, 5.0, 5.0, NAN, 5.0])
    spreads = lag_spreads(panel, ends=np.array([6]), lags=(1, 2, 3), quantile_levels=(0.1, 0.9))
    np.testing.assert_array_equal(spreads, 0.0)


def test_a_lag_without_a_pair_takes_the_spread_of_the_lag_before(panel_of: Callable):
    panel: Panel = panel_of(a=[0.0, 1.0, 3.0], b=[1.0, NAN, NAN])
    spreads = lag_spreads(panel, ends=np.array([3, 3]), lags=(1, 2, 3, 9), quantile_levels=(0.5, 0.9))
    np.testing.assert_array_equal(spreads[0, 2:], spreads[0, [1, 1]])
    np.testing.assert_array_equal(spreads[1], 0.0)


def test_a_spread_is_the_quantile_of_errors_counted_with_both_signs():
    errors = np.random.default_rng(5).exponential(size=40_000)
    levels = (0.05, 0.3, 0.5, 0.7, 0.95)
    mirrored = np.concatenate([errors, -errors])
    np.testing.assert_allclose(spread(errors, levels), np.quantile(mirrored, levels), atol=0.02)
    assert spread(np.empty(0), levels).tolist() == [0.0] * 5
