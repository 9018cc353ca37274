"""A thinned line shows every peak, every trough and every hole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.look.thin import thinned


def test_a_short_line_is_drawn_whole() -> None:
    assert thinned(np.arange(20.0), num_bins=10).tolist() == list(range(20))


@given(st.integers(21, 500), st.integers(0, 2**32))
def test_the_extremes_of_every_bin_are_there_in_order(num_steps: int, seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=num_steps)
    steps = thinned(values, num_bins=10)
    assert (np.diff(steps) > 0).all()
    assert len(steps) <= 20
    bins = np.arange(num_steps) * 10 // num_steps
    for number in range(10):
        drawn = values[steps[bins[steps] == number]]
        assert (drawn.min(), drawn.max()) == (values[bins == number].min(), values[bins == number].max())


def test_a_bin_without_a_value_breaks_the_line() -> None:
    values = np.arange(100.0)
    values[30:50] = np.nan
    steps = thinned(values, num_bins=10)
    assert np.isnan(values[steps]).sum() == 2


@pytest.mark.parametrize("num_bins", [1, 7])
def test_a_line_without_any_value_is_no_error(num_bins: int) -> None:
    assert np.isnan(np.full(100, np.nan)[thinned(np.full(100, np.nan), num_bins=num_bins)]).all()
