"""Stamps under a picture are round, in the zone of the data, and stand where they belong."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from forecast.frames.contract import DataContract, prepare
from pipelines.look.ticks import decades, round_numbers
from pipelines.look.timeline import Timeline


def timeline(first: datetime, last: datetime, *, zone: str | None = None) -> Timeline:
    return Timeline(pl.Series([first, last]).dt.replace_time_zone(zone))


@pytest.mark.parametrize(
    ("span", "texts"),
    [
        (timedelta(seconds=3), ["00:00:00", "00:00:01", "00:00:02", "00:00:03"]),
        (timedelta(hours=5), [f"01-15 0{hour}:00" for hour in range(6)]),
        (timedelta(days=5), ["2024-01-15", "2024-01-16", "2024-01-17", "2024-01-18", "2024-01-19", "2024-01-20"]),
        (timedelta(days=120), ["2024-02", "2024-03", "2024-04", "2024-05"]),
        (timedelta(days=1500), ["2025", "2026", "2027", "2028"]),
    ],
)
def test_stamps_are_as_fine_as_the_span(span: timedelta, texts: list[str]) -> None:
    start = datetime(2024, 1, 15)
    assert [tick.text for tick in timeline(start, start + span).ticks(most=8)] == texts


def test_days_begin_at_local_midnight_also_when_the_clocks_change() -> None:
    ticks = timeline(datetime(2024, 3, 30), datetime(2024, 4, 2), zone="Europe/Berlin").ticks(most=5)
    assert [tick.text for tick in ticks] == ["2024-03-30", "2024-03-31", "2024-04-01", "2024-04-02"]
    hours = np.diff([tick.place for tick in ticks]) * 71
    np.testing.assert_allclose(hours, [24, 23, 24])


def test_integer_time_has_whole_numbers() -> None:
    ticks = Timeline(pl.Series([0, 3])).ticks(most=8)
    assert [(tick.place, tick.text) for tick in ticks] == [(0.0, "0"), (1 / 3, "1"), (2 / 3, "2"), (1.0, "3")]


@pytest.mark.parametrize("moments", [[5, 5], [datetime(2024, 1, 1)] * 2])
def test_one_moment_is_no_error(moments: list) -> None:
    line = Timeline(pl.Series(moments))
    assert line.places(line.ends).tolist() == [0.0, 0.0]
    assert len(line.ticks(most=8)) == 1


def test_the_whole_panel_is_from_the_first_start_to_the_last_end() -> None:
    frame = pl.DataFrame({"unique_id": ["a", "a", "b", "b"], "ds": [3, 4, 0, 1], "y": [1.0, 2.0, 3.0, 4.0]})
    panel = prepare(frame, DataContract()).panel
    line = Timeline.of_panel(panel)
    assert line.ends.to_list() == [0, 4]
    assert [line.span_of(panel, number) for number in (0, 1)] == [(0.75, 1.0), (0.0, 0.25)]


def test_nanoseconds_keep_their_places() -> None:
    first = datetime(2024, 1, 1)
    line = Timeline(pl.Series([first, first + timedelta(microseconds=4)]).cast(pl.Datetime("ns")))
    middle = pl.Series([first + timedelta(microseconds=1)]).cast(pl.Datetime("ns"))
    assert line.places(middle).tolist() == [0.25]


@pytest.mark.parametrize(
    ("low", "high", "numbers"),
    [
        (0.0, 10.0, [0.0, 2.5, 5.0, 7.5, 10.0]),
        (-0.3, 0.3, [-0.2, 0.0, 0.2]),
        (3.0, 3.0, [3.0]),
        (-1.7e308, 1.7e308, [-1e308, 0.0, 1e308]),
    ],
)
def test_round_numbers_lie_between_the_ends(low: float, high: float, numbers: list[float]) -> None:
    assert round_numbers(low, high, most=4) == pytest.approx(numbers)


def test_powers_of_ten_are_thinned_where_they_are_many() -> None:
    assert decades(1.0, 1000.0, most=8) == [1.0, 10.0, 100.0, 1000.0]
    assert len(decades(1e-300, 1e300, most=8)) <= 9
