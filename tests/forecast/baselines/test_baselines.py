"""Every baseline of the union keeps the contract: it reads the past alone, and its quantiles stand in order."""

from collections.abc import Callable
from typing import get_args

import numpy as np
import pytest

from forecast.baselines import Baseline, BaselineContract, FittedBaseline
from forecast.batch import Batch, cut_windows
from forecast.errors import ConfigError
from forecast.forecast import Forecast
from forecast.frames.panel import Panel

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
CONTEXT, HORIZON, STEPS, TRAIN = 48, 30, 400, 300
BASELINES = [kind() for kind in get_args(get_args(Baseline)[0])]
NAMES = [baseline.name for baseline in BASELINES]


def walk(seed: int, *, steps: int = STEPS) -> np.ndarray:
    random = np.random.default_rng(seed)
    return 10 + 3 * np.sin(np.arange(steps) * 2 * np.pi / 24) + random.normal(size=steps).cumsum() * 0.1


@pytest.fixture
def panel(panel_of: Callable) -> Panel:
    gappy = walk(2)
    gappy[::7] = np.nan
    return panel_of(whole=walk(1), gappy=gappy, large=1e6 * walk(3))


def fit(baseline: BaselineContract, panel: Panel, *, levels: tuple[float, ...] = LEVELS) -> FittedBaseline:
    return baseline.fit(
        panel,
        ends=np.minimum(panel.lengths, TRAIN),
        units=units(panel),
        context_length=baseline.context_for(panel, context_length=CONTEXT),
        horizon=HORIZON,
        quantile_levels=levels,
    )


def fit_to(baseline: BaselineContract, panel: Panel, *, ends: list[int]) -> FittedBaseline:
    return baseline.fit(
        panel,
        ends=np.array(ends),
        units=np.ones(len(panel)),
        context_length=CONTEXT,
        horizon=HORIZON,
        quantile_levels=LEVELS,
    )


def units(panel: Panel) -> np.ndarray:
    training = [slice(panel.series(number).start, panel.series(number).start + TRAIN) for number in range(len(panel))]
    return np.array([panel.values[place][panel.observed[place]].std() for place in training])


def windows(panel: Panel, *, origin: int = TRAIN) -> Batch:
    numbers = np.arange(len(panel))
    origins = np.full(len(panel), origin)
    return cut_windows(panel, series=numbers, origins=origins, context_length=CONTEXT, horizon=0)


def forecast(fitted: FittedBaseline, panel: Panel, *, horizon: int = HORIZON) -> Forecast:
    return fitted.forecast(windows(panel), series=np.arange(len(panel)), horizon=horizon)


every_baseline = pytest.mark.parametrize("baseline", BASELINES, ids=NAMES)


@every_baseline
@pytest.mark.parametrize("horizon", [1, 5, HORIZON])
def test_a_forecast_is_finite_and_has_the_shape_asked_for(baseline, panel: Panel, horizon: int):
    given = forecast(fit(baseline, panel), panel, horizon=horizon)
    assert given.mean.shape == (3, horizon)
    assert given.quantiles.shape == (3, horizon, len(LEVELS))
    assert np.isfinite(given.quantiles).all()


@every_baseline
def test_quantiles_never_cross_and_the_median_is_the_point(baseline, panel: Panel):
    given = forecast(fit(baseline, panel), panel)
    assert (np.diff(given.quantiles, axis=2) >= 0).all()
    np.testing.assert_array_equal(given.quantiles[:, :, 2], given.mean)


@every_baseline
def test_a_shorter_horizon_is_the_beginning_of_a_longer_one(baseline, panel: Panel):
    fitted = fit(baseline, panel)
    long, short = forecast(fitted, panel), forecast(fitted, panel, horizon=7)
    np.testing.assert_array_equal(short.quantiles, long.quantiles[:, :7])


@every_baseline
def test_nothing_after_the_training_part_changes_the_fit(baseline, panel: Panel, panel_of: Callable):
    corrupted = {
        str(series_id): np.where(np.arange(STEPS) < TRAIN, panel.values[panel.series(number)], 1e12)
        for number, series_id in enumerate(panel.ids)
    }
    corrupted["gappy"][:TRAIN][::7] = np.nan
    given = [forecast(fit(baseline, each), panel) for each in (panel, panel_of(**corrupted))]
    np.testing.assert_array_equal(given[0].quantiles, given[1].quantiles)


@every_baseline
def test_nothing_after_a_training_part_shorter_than_the_horizon_changes_the_fit(baseline, panel_of: Callable):
    short = walk(5)
    corrupted = np.where(np.arange(STEPS) < 10, short, 1e12)
    fits = [fit_to(baseline, panel_of(long=walk(4), short=each), ends=[TRAIN, 10]) for each in (short, corrupted)]
    np.testing.assert_array_equal(fits[0].spreads, fits[1].spreads)


@every_baseline
def test_a_window_alone_is_forecast_as_in_a_batch(baseline, panel: Panel):
    fitted = fit(baseline, panel)
    together = forecast(fitted, panel)
    for number in range(len(panel)):
        numbers = np.array([number])
        alone = fitted.forecast(
            cut_windows(panel, series=numbers, origins=np.array([TRAIN]), context_length=CONTEXT, horizon=0),
            series=numbers,
            horizon=HORIZON,
        )
        np.testing.assert_allclose(alone.quantiles[0], together.quantiles[number], rtol=1e-12)


@every_baseline
def test_a_changed_unit_changes_the_unit_of_the_forecast_alone(baseline, panel_of: Callable):
    given = [forecast(fit(baseline, each), each) for each in (panel_of(a=walk(1)), panel_of(a=4 * walk(1) + 256))]
    np.testing.assert_allclose(given[1].quantiles, 4 * given[0].quantiles + 256, rtol=1e-9)


@every_baseline
def test_intervals_hold_about_what_they_promise_on_new_steps(baseline, panel_of: Callable):
    random = np.random.default_rng(8)
    noise = panel_of(a=random.normal(size=3000))
    fitted = fit_to(baseline, noise, ends=[2000])
    origins = np.arange(2000, 2900)
    numbers = np.zeros(len(origins), dtype=np.int64)
    batch = cut_windows(noise, series=numbers, origins=origins, context_length=CONTEXT, horizon=HORIZON)
    given = fitted.forecast(batch, series=numbers, horizon=HORIZON).quantiles
    actual = batch.future.numpy()
    assert ((given[:, :, 0] <= actual) & (actual <= given[:, :, -1])).mean() == pytest.approx(0.9, abs=0.03)


@every_baseline
def test_points_alone_are_given_when_no_level_is_asked_for(baseline, panel: Panel):
    given = forecast(fit(baseline, panel, levels=()), panel)
    assert given.quantiles.shape == (3, HORIZON, 0)
    assert given.quantile_levels == ()


@every_baseline
def test_a_longer_horizon_than_fitted_is_refused(baseline, panel: Panel):
    with pytest.raises(ConfigError, match="horizon=31"):
        forecast(fit(baseline, panel), panel, horizon=31)


@every_baseline
def test_a_window_without_any_observation_is_forecast_as_zero(baseline, panel: Panel):
    batch = windows(panel)
    nothing = Batch(**{**vars(batch), "past": batch.past * 0, "past_observed": batch.past_observed & False})
    given = fit(baseline, panel).forecast(nothing, series=np.arange(len(panel)), horizon=HORIZON)
    np.testing.assert_array_equal(given.mean, np.zeros((3, HORIZON)))


def test_every_baseline_file_is_listed_in_the_union(repository):
    not_baselines = {"__init__", "base", "spread"}
    files = {file.stem for file in (repository / "forecast" / "baselines").glob("*.py")} - not_baselines
    assert {type(baseline).__module__.rpartition(".")[2] for baseline in BASELINES} == files
