"""Peaks and their prominences are those that scipy finds, in time that grows with the length of the curve."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.signal import find_peaks

from pipelines.look.peaks import peaks


@example([0, 3, 1, 3, 0], 0.0)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=60), st.sampled_from([0.0, 1.0, 3.0]))
def test_peaks_are_those_of_scipy_flat_tops_included(heights: list[int], prominence: float) -> None:
    curve = np.array(heights, dtype=np.float64)
    found, (places, shape) = peaks(curve, prominence=prominence), find_peaks(curve, prominence=prominence)
    assert found.places.tolist() == places.tolist()
    np.testing.assert_allclose(found.prominences, shape["prominences"])


def test_peaks_of_a_random_walk_are_those_of_scipy() -> None:
    curve = np.cumsum(np.random.default_rng(1).normal(size=3000))
    found, (places, shape) = peaks(curve, prominence=0.5), find_peaks(curve, prominence=0.5)
    assert found.places.tolist() == places.tolist()
    np.testing.assert_allclose(found.prominences, shape["prominences"])


@pytest.mark.parametrize("curve", [[], [1.0], [1.0, 2.0, 3.0], [2.0, 2.0, 2.0], [1.0, 0.0, 1.0]])
def test_a_curve_may_have_none(curve: list[float]) -> None:
    assert len(peaks(np.array(curve, dtype=np.float64), prominence=0.0).places) == 0
