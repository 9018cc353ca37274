"""The closed-form linear map against a ridge regression written out window by window."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch

from forecast import linear
from forecast.errors import TrainingError
from forecast.frames.panel import Panel
from forecast.linear import LinearMap, fit_linear

NAN = float("nan")
CONTEXT, HORIZON, STRENGTH = 6, 3, 0.1
LEVELS = {"mean": np.nanmean, "newest": lambda past: past[np.isfinite(past)][-1]}

every_level = pytest.mark.parametrize("level", LEVELS)
every_measure = pytest.mark.parametrize("measure", ["series", "window"])


def wave(seed: int, *, steps: int = 40, missing: float = 0.0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    values = 5 + 2 * np.sin(np.arange(steps) / 2 + seed) + draw.normal(size=steps)
    return np.where(draw.random(steps) < missing, NAN, values)


def fit(panel: Panel, *, ends=None, units=None, **asked) -> LinearMap:
    return fit_linear(
        panel,
        ends=panel.lengths if ends is None else np.array(ends),
        units=np.ones(len(panel)) if units is None else np.array(units, dtype=float),
        **{"context_length": CONTEXT, "horizon": HORIZON, "strength": STRENGTH, **asked},
    )


def rows(values: np.ndarray, level: str, measure: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give the training windows of one series as the definition has them: one at a time, NaN for what is missing."""
    for origin in range(CONTEXT, len(values) - HORIZON + 1):
        past, future = values[origin - CONTEXT : origin], values[origin : origin + HORIZON]
        if np.isnan(future).any() or np.isnan(past).all():
            continue
        own = LEVELS[level](past)
        past, future = np.nan_to_num(past - own), future - own
        unit = np.sqrt((past**2).mean()) if measure == "window" else 1.0
        if unit > 0:
            yield past / unit, future / unit


def plain_ridge(*series: np.ndarray, level: str, measure: str) -> np.ndarray:
    """Solve the ridge as a least-squares problem with the penalty as extra rows, not by the normal equations."""
    windows = [window for values in series for window in rows(values, level, measure)]
    past, future = (np.stack(side) for side in zip(*windows, strict=True))
    penalty = np.sqrt(STRENGTH * len(past)) * np.eye(CONTEXT)
    return np.linalg.lstsq(
        np.concatenate([past, penalty]), np.concatenate([future, np.zeros((CONTEXT, HORIZON))]), rcond=None
    )[0]


def one(values) -> tuple[torch.Tensor, torch.Tensor]:
    """Give one past and what of it is observed; NaN is missing."""
    past = torch.as_tensor(np.array([values], dtype=np.float64))
    return past.nan_to_num(), past.isfinite()


# ---- The solution


@every_measure
@every_level
def test_weights_are_those_of_a_plain_ridge_over_all_series(panel_of: Callable, level, measure):
    first, second = wave(1), wave(2, steps=25)
    solved = fit(panel_of(a=first, b=second), level=level, measure=measure)
    np.testing.assert_allclose(solved.weights, plain_ridge(first, second, level=level, measure=measure), atol=1e-10)


@every_measure
@every_level
def test_missing_steps_count_as_the_level_and_windows_with_a_missing_target_are_left_out(
    panel_of: Callable, level, measure
):
    gappy = wave(3, steps=120, missing=0.15)
    gappy[50:58] = NAN  # a whole context without an observation
    gappy[0] = 4.0
    solved = fit(panel_of(a=gappy), level=level, measure=measure)
    np.testing.assert_allclose(solved.weights, plain_ridge(gappy, level=level, measure=measure), atol=1e-10)


def test_each_series_is_measured_in_its_unit(panel_of: Callable):
    calm, wild = wave(1), 1000 * wave(2)
    solved = fit(panel_of(a=calm, b=wild), units=[1, 1000])
    np.testing.assert_allclose(
        solved.weights, plain_ridge(calm, wild / 1000, level="mean", measure="series"), atol=1e-10
    )


def test_measured_by_window_the_unit_of_a_series_does_not_matter(panel_of: Callable):
    solved, other = (fit(panel_of(a=wave(1), b=factor * wave(2)), measure="window") for factor in (1, 1e6))
    torch.testing.assert_close(solved.weights, other.weights)


def test_measured_by_window_a_stretch_that_does_not_move_is_left_out(panel_of: Callable):
    flat = np.full(30, 7.0)
    with_flat = fit(panel_of(a=wave(1), b=flat), measure="window")
    torch.testing.assert_close(with_flat.weights, fit(panel_of(a=wave(1)), measure="window").weights)


def test_many_windows_are_solved_in_chunks_as_in_one_go(panel_of: Callable, monkeypatch: pytest.MonkeyPatch):
    panel = panel_of(a=wave(1), b=wave(2, steps=31))
    whole = fit(panel)
    monkeypatch.setattr(linear, "CHUNK", 7)
    torch.testing.assert_close(fit(panel).weights, whole.weights)


def test_nothing_from_the_ends_on_is_read(panel_of: Callable):
    series = [wave(1), wave(2)]
    corrupted = [np.where(np.arange(40) < end, values, 1e12) for values, end in zip(series, (30, 8), strict=True)]
    solved, other = (fit(panel_of(a=a, b=b), ends=[30, 8]) for a, b in (series, corrupted))
    assert torch.equal(solved.weights, other.weights)


def test_the_last_window_ends_with_the_training_part(panel_of: Callable):
    values = wave(1)
    changed = values.copy()
    changed[29] += 1
    solved, other = (fit(panel_of(a=each), ends=[30]) for each in (values, changed))
    assert not torch.equal(solved.weights, other.weights)


def test_a_short_series_takes_part_with_its_context_padded(panel_of: Callable):
    short = np.array([2.0, 4.0, 7.0, 3.0])  # one step of context and a whole horizon
    solved = fit(panel_of(a=wave(1), b=short))
    padded = np.concatenate([np.full(CONTEXT - 1, NAN), short])
    np.testing.assert_allclose(solved.weights, plain_ridge(wave(1), padded, level="mean", measure="series"), atol=1e-10)


def test_no_complete_target_anywhere_is_an_error_that_says_what_to_do(panel_of: Callable):
    with pytest.raises(TrainingError, match=r"no training window with 3 observed target steps; give longer series or"):
        fit(panel_of(a=[1, 2, 3], b=[1, NAN, 3, NAN, 5, NAN, 7, NAN, 9, NAN, 11]))


def test_a_wave_without_noise_is_continued(panel_of: Callable):
    values = 3 + np.sin(np.arange(80) / 2)
    solved = fit(panel_of(a=values), ends=[60], strength=1e-9, context_length=16)
    past = torch.from_numpy(values[None, 44:60])
    forecast = solved.forecast(past, torch.ones_like(past, dtype=torch.bool), horizon=HORIZON)
    np.testing.assert_allclose(forecast[0], values[60:63], atol=1e-3)


# ---- The forecast


@every_level
def test_forecast_is_the_level_plus_the_weighted_distances_from_it(level):
    weights = torch.randn(CONTEXT, HORIZON, dtype=torch.float64)
    values = np.array([1.0, NAN, 4.0, 2.0, 8.0, NAN])
    own = LEVELS[level](values)
    expected = own + np.nan_to_num(values - own) @ weights.numpy()
    given = LinearMap(weights, level).forecast(*one(values), horizon=HORIZON)
    np.testing.assert_allclose(given[0], expected)


@every_level
def test_a_longer_context_counts_by_its_newest_steps_and_a_shorter_as_missing_on_the_left(level):
    solved = LinearMap(torch.randn(CONTEXT, HORIZON, dtype=torch.float64), level)
    newest = wave(1, steps=CONTEXT).tolist()
    given = solved.forecast(*one(newest), horizon=HORIZON)
    torch.testing.assert_close(solved.forecast(*one([1e9, 7.0, *newest]), horizon=HORIZON), given)
    short = solved.forecast(*one(newest[-2:]), horizon=HORIZON)
    torch.testing.assert_close(short, solved.forecast(*one([NAN] * 4 + newest[-2:]), horizon=HORIZON))


@every_level
def test_a_longer_horizon_is_rolled_out_over_its_own_forecast(level):
    solved = LinearMap(torch.randn(CONTEXT, HORIZON, dtype=torch.float64) / CONTEXT, level)
    past = wave(1, steps=CONTEXT).tolist()
    long = solved.forecast(*one(past), horizon=2 * HORIZON + 1)[0].tolist()
    first = solved.forecast(*one(past), horizon=HORIZON)[0].tolist()
    second = solved.forecast(*one(past + first), horizon=HORIZON)[0].tolist()
    third = solved.forecast(*one(past + first + second), horizon=1)[0].tolist()
    assert long == pytest.approx(first + second + third)


@every_level
def test_forecast_follows_scale_and_shift(level):
    solved = LinearMap(torch.randn(CONTEXT, HORIZON, dtype=torch.float64), level)
    past, observed = one([1.0, NAN, 4.0, 2.0, 8.0, 5.0])
    given = solved.forecast(past, observed, horizon=HORIZON)
    moved = solved.forecast((-3 * past + 100) * observed, observed, horizon=HORIZON)
    torch.testing.assert_close(moved, -3 * given + 100)


@every_level
@pytest.mark.parametrize("past", [[], [NAN, NAN]], ids=["no step", "nothing observed"])
def test_nothing_known_is_forecast_as_zero(level, past):
    solved = LinearMap(torch.randn(CONTEXT, HORIZON, dtype=torch.float64), level)
    assert solved.forecast(*one(past), horizon=HORIZON).tolist() == [[0.0] * HORIZON]


def test_no_horizon_is_an_empty_forecast():
    solved = LinearMap(torch.randn(CONTEXT, HORIZON, dtype=torch.float64))
    assert solved.forecast(*one([1.0, 2.0]), horizon=0).shape == (1, 0)
