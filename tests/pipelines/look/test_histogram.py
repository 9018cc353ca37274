"""Histograms count every figure once and say what has no place on their scale."""

import numpy as np

from pipelines.look.histogram import linear_histogram, log_histogram


def test_every_finite_figure_is_counted_once() -> None:
    found = linear_histogram(np.array([1.0, 2.0, 2.0, 9.0, np.nan]))
    assert found is not None
    assert found.counts.sum() == 4
    assert (found.edges[0], found.edges[-1]) == (1.0, 9.0)


def test_the_largest_figures_do_not_overflow() -> None:
    found = linear_histogram(np.array([-1e308, 1e308]))
    assert found is not None
    assert np.isfinite(found.edges).all()


def test_on_a_log_scale_sizes_count_and_zeros_stand_apart() -> None:
    found = log_histogram(np.array([0.0, -5.0, 200.0, 3000.0, np.nan]))
    assert found is not None
    assert (found.counts.sum(), found.num_zero, found.logarithmic) == (3, 1, True)
    assert found.edges[0] == 1.0
    assert found.edges[-1] == 10_000.0


def test_extremes_of_float64_have_a_place_on_the_log_scale() -> None:
    found = log_histogram(np.array([5e-324, 1.7e308]))
    assert found is not None
    assert found.counts.sum() == 2
    assert np.isfinite(found.edges).all()
    assert (found.edges > 0).all()


def test_without_figures_there_is_no_histogram() -> None:
    assert linear_histogram(np.array([np.nan])) is None
    assert log_histogram(np.zeros(3)) is None
