"""Autocorrelation is that of the observed pairs, and the cycles of a series are found and named."""

from datetime import timedelta

import numpy as np
import pytest

from pipelines.look.season import Cycle, autocorrelation, find_cycles, seasonality

NAN = np.nan


def by_definition(values: np.ndarray, observed: np.ndarray) -> list[float]:
    deviations = values - values[observed].mean()
    found = []
    for lag in range(len(values) // 2 + 1):
        both = observed[lag:] & observed[: len(values) - lag]
        found.append(float(np.mean((deviations[lag:] * deviations[: len(values) - lag])[both])))
    return [covariance / found[0] for covariance in found]


def waves(num_steps: int, *periods: int) -> np.ndarray:
    steps = np.arange(num_steps)
    noise = np.random.default_rng(3).normal(scale=0.1, size=num_steps)
    return noise + sum(np.sin(2 * np.pi * steps / period) for period in periods)


@pytest.mark.parametrize("share_missing", [0.0, 0.4])
def test_the_transform_gives_what_the_definition_gives(share_missing: float) -> None:
    random = np.random.default_rng(1)
    values, observed = random.normal(5.0, 2.0, size=101), random.random(101) >= share_missing
    # Unobserved values are anything: none of them may count.
    expected = by_definition(np.where(observed, values, 0.0), observed)
    np.testing.assert_allclose(autocorrelation(values, observed), expected, atol=1e-12)


def test_what_stands_where_nothing_was_observed_does_not_matter() -> None:
    values, observed = waves(200, 10), np.random.default_rng(2).random(200) > 0.3
    other = np.where(observed, values, 1e300)
    assert autocorrelation(values, observed).tolist() == autocorrelation(other, observed).tolist()


@pytest.mark.parametrize("size", [1e-250, 1e250])
def test_no_size_of_values_overflows(size: float) -> None:
    values, observed = waves(100, 10), np.ones(100, dtype=bool)
    np.testing.assert_allclose(autocorrelation(values * size, observed), autocorrelation(values, observed), atol=1e-9)


def test_a_constant_series_has_no_autocorrelation() -> None:
    assert np.isnan(autocorrelation(np.full(50, 0.1), np.ones(50, dtype=bool))).all()


def test_lags_with_too_few_pairs_are_not_told() -> None:
    observed = np.zeros(100, dtype=bool)
    observed[[0, 1, 2, 3, 50]] = True
    curve = autocorrelation(np.arange(100.0), observed)
    assert np.isfinite(curve[0])
    assert np.isnan(curve[20])


def test_a_day_and_a_week_are_found_and_their_repetitions_are_not() -> None:
    curve = autocorrelation(waves(24 * 7 * 20, 24, 168), np.ones(24 * 7 * 20, dtype=bool))
    assert find_cycles(curve, chance=0.03) == [24, 168]


def test_where_nights_are_untold_their_edges_are_no_cycles() -> None:
    curve = np.array(
        [1.0, 0.2, 0.1, NAN, NAN, 0.6, 0.3, 0.9, 0.3, 0.6, NAN, NAN, 0.5, 0.2, 0.8, 0.2, 0.5, NAN, NAN, 0.1]
    )
    assert find_cycles(curve, chance=0.01) == [7]


def test_noise_has_no_cycle() -> None:
    curve = autocorrelation(np.random.default_rng(5).normal(size=2000), np.ones(2000, dtype=bool))
    assert find_cycles(curve, chance=1.96 / np.sqrt(2000)) == []


def test_cycles_are_named_in_steps_and_in_time(panel_of) -> None:
    found = seasonality(panel_of(every=timedelta(minutes=30), a=waves(48 * 20, 48)))
    assert found is not None
    assert [str(cycle) for cycle in found.cycles] == ["48 steps = 1 day"]
    assert found.cycles[0].of_values > 0.9


def test_a_drift_does_not_hide_a_cycle(panel_of) -> None:
    found = seasonality(panel_of(a=waves(24 * 60, 24) + np.arange(24 * 60) * 0.5))
    assert found is not None
    assert [cycle.lag for cycle in found.cycles] == [24]


def test_on_integer_time_a_cycle_is_named_in_steps_alone(make_panel) -> None:
    found = seasonality(make_panel(waves(200, 10)))
    assert found is not None
    assert [str(cycle) for cycle in found.cycles] == ["10 steps"]


def test_the_own_season_is_named_where_chance_moved_the_top_of_a_peak_beside_it(panel_of) -> None:
    found = seasonality(panel_of(every=timedelta(minutes=30), a=waves(49 * 6, 49)))
    assert found is not None
    assert [cycle.lag for cycle in found.cycles] == [48]


@pytest.mark.parametrize("values", [[1.0] * 50, [1.0, 2.0, 3.0], [NAN] * 30, [*np.arange(5.0), *[NAN] * 40]])
def test_series_that_cannot_tell_are_no_error(panel_of, values: list[float]) -> None:
    assert seasonality(panel_of(a=values)) is None


def test_series_of_different_lengths_are_put_together(panel_of) -> None:
    found = seasonality(panel_of(a=waves(400, 24), b=waves(200, 24), c=[5.0] * 100))
    assert found is not None
    assert found.num_series == 2
    assert (found.values.low <= found.values.middle).all()
    assert (found.values.middle <= found.values.high).all()
    assert len(found.values.middle) == 201


def test_a_cycle_of_one_step_is_one_step() -> None:
    assert str(Cycle(1, timedelta(days=1), of_values=0.5, of_changes=0.5)) == "1 step = 1 day"
