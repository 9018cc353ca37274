"""Figures of series are those that a person would work out, whatever their size and whatever is missing."""

import numpy as np
import pytest

from pipelines.look.facts import series_facts

NAN = np.nan


def test_figures_are_over_the_observed_steps_alone(panel_of) -> None:
    facts = series_facts(panel_of(a=[1.0, NAN, 3.0, 0.0], b=[5.0, 5.0, 5.0]))
    assert facts.lengths.tolist() == [4, 3]
    assert facts.num_missing.tolist() == [1, 0]
    assert facts.missing.tolist() == [0.25, 0.0]
    np.testing.assert_allclose(facts.mean, [4 / 3, 5.0])
    np.testing.assert_allclose(facts.std, [np.std([1.0, 3.0, 0.0]), 0.0])
    assert facts.lowest.tolist() == [0.0, 5.0]
    assert facts.highest.tolist() == [3.0, 5.0]
    np.testing.assert_allclose(facts.zeros, [1 / 3, 0.0])
    assert facts.constant.tolist() == [False, True]


def test_stamps_are_written_as_the_caller_writes_them(panel_of) -> None:
    facts = series_facts(panel_of(a=[1.0, 2.0, 3.0]))
    assert (facts.starts, facts.ends) == (("2024-01-01 00:00:00",), ("2024-01-01 02:00:00",))


def test_the_longest_gap_does_not_run_over_from_one_series_into_the_next(panel_of) -> None:
    facts = series_facts(panel_of(a=[1.0, NAN, NAN], b=[NAN, NAN, NAN, 2.0], c=[1.0, 2.0]))
    assert facts.longest_gap.tolist() == [2, 3, 0]


def test_a_series_without_a_value_has_no_figures_and_is_not_constant(panel_of) -> None:
    facts = series_facts(panel_of(a=[NAN, NAN], b=[1.0, 2.0]))
    assert all(np.isnan(figures[0]) for figures in (facts.mean, facts.std, facts.lowest, facts.zeros))
    assert facts.constant.tolist() == [False, False]
    assert facts.missing[0] == 1.0


def test_a_single_value_is_not_called_constant(panel_of) -> None:
    assert series_facts(panel_of(a=[1.0, NAN])).constant.tolist() == [False]


@pytest.mark.parametrize("size", [1e-300, 1e20, 1e307])
def test_values_of_any_size_have_finite_figures(panel_of, size: float) -> None:
    facts = series_facts(panel_of(a=[size, 3 * size, size, 3 * size]))
    np.testing.assert_allclose([facts.mean[0], facts.std[0]], [2 * size, size])


def test_rounding_is_no_spread(panel_of) -> None:
    assert series_facts(panel_of(a=[0.1 + 0.2, 0.1 + 0.2, 0.1 + 0.2])).std.tolist() == [0.0]
