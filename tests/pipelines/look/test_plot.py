"""Lines break where nothing is known, a point alone is seen, and values of any size have their place."""

import numpy as np
import pytest

from pipelines.look.plot import counting_scale, linear_scale, log_scale, path

NAN = np.nan


def test_a_line_breaks_where_nothing_is_known() -> None:
    up = np.array([5.0, 6.0, NAN, 7.0, 8.0])
    assert path(np.arange(5.0), up) == "M0 5L1 6M3 7L4 8"


def test_a_point_alone_is_a_dot() -> None:
    assert path(np.arange(4.0), np.array([NAN, 5.0, NAN, 6.0])) == "M1 5h0M3 6h0"


@pytest.mark.parametrize("size", [1e-300, 1.0, 1.7e308])
def test_values_of_any_size_lie_between_the_ends(size: float) -> None:
    places = linear_scale(-size, size).place(np.array([-size, 0.0, size]))
    np.testing.assert_allclose(places, [0.0, 0.5, 1.0])


def test_where_all_values_are_equal_they_lie_in_the_middle() -> None:
    assert linear_scale(3.0, 3.0).place(np.array([3.0, NAN])).tolist() == pytest.approx([0.5, NAN], nan_ok=True)


def test_equal_ratios_are_equal_distances_on_a_log_scale() -> None:
    scale = log_scale(1.0, 1000.0)
    np.testing.assert_allclose(scale.place(np.array([1.0, 10.0, 100.0, 1000.0])), [0, 1 / 3, 2 / 3, 1])
    assert [tick.text for tick in scale.ticks] == ["1", "10", "100", "1,000"]


def test_things_are_counted_in_whole_numbers() -> None:
    assert [tick.text for tick in counting_scale(1).ticks] == ["0", "1"]
    assert [tick.text for tick in counting_scale(9).ticks] == ["0", "2", "4", "6", "8"]
