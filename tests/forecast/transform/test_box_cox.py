"""Box-Cox: its powers join up, and the fitted one is the one of greatest likelihood."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from forecast.errors import DataError, TrainingError
from forecast.transform import BoxCox
from forecast.transform.likelihood import fit_power


def powered(power: float, *, num_steps: int, seed: int, unit: float = 1.0) -> np.ndarray:
    """Values whose power is normal around 10."""
    normal = np.random.default_rng(seed).normal(10, 1, size=num_steps)
    return unit * (np.exp(normal / 2) if power == 0 else normal ** (1 / power))


def fitted(panel) -> float:
    return fit_power(panel, ends=panel.lengths)


@pytest.mark.parametrize("power", [0.0, 0.3, 0.7, 1.0])
def test_fitted_power_is_the_one_that_made_the_values_normal(power, panel_of):
    panel = panel_of(a=powered(power, num_steps=20_000, seed=1))
    assert fitted(panel) == pytest.approx(power, abs=0.12)


@given(seed=st.integers(0, 1000))
def test_fitted_power_of_one_series_is_that_of_scipy(seed, panel_of):
    values = np.random.default_rng(seed).gamma(2.0, size=200)
    expected = min(max(float(stats.boxcox_normmax(values, method="mle")), 0.0), 1.0)
    assert fitted(panel_of(a=values)) == pytest.approx(expected, abs=1e-3)


def test_series_of_other_units_weigh_the_same_and_share_the_power(panel_of):
    small, large = (powered(0.3, num_steps=2000, seed=seed) for seed in (1, 2))
    together = fitted(panel_of(a=small, b=large))
    assert fitted(panel_of(a=small, b=1e9 * large)) == pytest.approx(together, abs=1e-3)


def test_series_may_stand_on_levels_of_their_own(panel_of):
    rng = np.random.default_rng(3)
    low, high = (np.exp(rng.normal(level, 0.2, size=2000)) for level in (0.0, 6.0))
    assert fitted(panel_of(a=low, b=high)) == pytest.approx(0.0, abs=0.15)


def test_nothing_after_the_ends_shapes_the_power(panel_of):
    values = powered(0.3, num_steps=300, seed=4)
    changed = values.copy()
    changed[200:] = 1e6
    ends = np.array([200])
    assert fit_power(panel_of(a=values), ends=ends) == fit_power(panel_of(a=changed), ends=ends)


def test_series_that_do_not_move_say_nothing_of_the_power(panel_of):
    moving = powered(0.3, num_steps=500, seed=5)
    assert fitted(panel_of(a=moving, b=[7.0] * 500)) == fitted(panel_of(a=moving))
    assert fitted(panel_of(b=[7.0] * 5)) == 1.0


def test_series_over_many_decades_are_fitted(panel_of):
    assert fitted(panel_of(a=np.logspace(-150, 150, 200))) == pytest.approx(0.0, abs=0.05)


def test_zeros_are_refused_by_the_fit_with_what_to_do(panel_of):
    with pytest.raises(DataError, match=r"2 training values are not above 0; give transform\.power"):
        fitted(panel_of(a=[0.0, 1.0, 2.0, 0.0]))


def test_nothing_works_before_the_power_is_fitted():
    steps = torch.ones(1, 3, dtype=torch.float64)
    with pytest.raises(TrainingError, match="not fitted yet"):
        BoxCox().build().open(steps, steps > 0, horizon=2)


def test_fitted_power_is_among_the_weights_and_a_given_one_is_kept(panel_of):
    panel = panel_of(a=powered(0.3, num_steps=500, seed=6))
    free, given_power = BoxCox().build(), BoxCox(power=0.25).build()
    for transformation in (free, given_power):
        transformation.fit(panel, ends=panel.lengths)
    assert free.state_dict()["power"].item() == fitted(panel)
    assert given_power.state_dict()["power"].item() == 0.25
    again = BoxCox().build()
    again.load_state_dict(free.state_dict())
    values = torch.tensor(panel.values)[None]
    everything = torch.ones_like(values, dtype=torch.bool)
    assert torch.equal(again.open(values, everything, horizon=1).past, free.open(values, everything, horizon=1).past)


@pytest.mark.parametrize("power", [-0.5, 1.5, float("nan")])
def test_powers_that_cannot_be_undone_are_refused(power):
    with pytest.raises(ValueError, match="power"):
        BoxCox(power=power)


def test_zero_is_taken_by_powers_above_0_alone():
    steps = torch.tensor([[0.0, 1.0, 4.0]], dtype=torch.float64)
    everything = torch.ones_like(steps, dtype=torch.bool)
    assert BoxCox(power=0.5).build().open(steps, everything, horizon=1).past.tolist() == [[0.0, 2.0, 4.0]]
    assert BoxCox(power=0.05).build().open(steps, everything, horizon=1).past[0, 0].item() == pytest.approx(-20)
    with pytest.raises(DataError, match=r"1 values of a window, the first 0\.0,.*values above 0"):
        BoxCox(power=0.0).build().open(steps, everything, horizon=1)
