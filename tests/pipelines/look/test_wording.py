"""Figures, shares and lengths of time are written as people write them."""

from datetime import timedelta

import pytest

from pipelines.look.wording import counted, duration, figure, percent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (-2.5, "-2.5"),
        (1234.5678, "1,235"),
        (1_234_567.0, "1,234,567"),
        (0.012345, "0.01235"),
        (12_345_678.0, "1.235e+07"),
        (0.00012345, "1.234e-04"),
        (99.999, "100"),
        (float("nan"), "-"),
        (float("inf"), "-"),
    ],
)
def test_a_figure_has_four_digits_that_count(value: float, text: str) -> None:
    assert figure(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0%"), (1.0, "100%"), (1e-6, "<0.1%"), (0.99999, ">99.9%"), (0.1234, "12.3%"), (float("nan"), "-")],
)
def test_a_small_share_does_not_look_like_nothing(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(days=7), "7 days"),
        (timedelta(days=1), "1 day"),
        (timedelta(hours=25), "25 hours"),
        (timedelta(minutes=90), "90 minutes"),
        (timedelta(seconds=1), "1 second"),
        (timedelta(days=1, seconds=1), "86,401 seconds"),
        (timedelta(milliseconds=1500), "1.5 seconds"),
        (timedelta(milliseconds=20), "0.02 seconds"),
    ],
)
def test_a_length_of_time_is_told_in_its_largest_whole_unit(length: timedelta, text: str) -> None:
    assert duration(length) == text


def test_things_are_counted_in_the_singular_and_the_plural() -> None:
    assert [counted(1, "step"), counted(1200, "step"), counted(2, "series")] == ["1 step", "1,200 steps", "2 series"]
