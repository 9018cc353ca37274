"""Series given by start and size become the panel that a frame of their rows becomes, and are refused one by one."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast.errors import FrequencyError, MissingValues, SeriesTooShort
from forecast.frames.contract import DataContract, prepare
from forecast.frames.frequency import Frequency
from forecast.frames.regular import PreparedSeries, prepare_regular
from forecast.frames.regular_series import RegularSeries

DAY = datetime(2024, 1, 31)
BERLIN = datetime(2024, 3, 30, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"))


def regular(starts: Sequence[datetime | int], *values: list[float]) -> RegularSeries:
    dtype = pl.Int64() if isinstance(starts[0], int) else None
    return RegularSeries(
        ids=tuple(f"s{number}" for number in range(len(starts))),
        starts=pl.Series(starts, dtype=dtype),
        sizes=np.array([len(part) for part in values], dtype=np.int64),
        values=(np.concatenate([np.array(part, dtype=np.float64) for part in values]),),
    )


def prepared(series: RegularSeries, frequency: str, *, horizon: int = 5, **policies: Any) -> PreparedSeries:
    contract = DataContract(**policies)
    return prepare_regular(series, frequency=Frequency.parse(frequency), contract=contract, horizon=horizon)


@pytest.mark.parametrize(
    ("start", "frequency"),
    [
        (DAY, "h"),
        (DAY, "D"),
        (DAY, "ME"),
        (DAY, "1mo"),
        (DAY, "W-WED"),
        (DAY, "B"),
        (DAY, "YE-JAN"),
        (BERLIN, "h"),
        (BERLIN, "D"),
        (7, "3"),
    ],
)
@settings(max_examples=8)
@given(
    st.lists(st.lists(st.floats(-1e300, 1e300) | st.just(float("nan")), min_size=1, max_size=9), min_size=1, max_size=4)
)
def test_the_panel_is_the_one_of_a_frame_of_the_same_rows(
    start: datetime | int, frequency: str, values: list[list[float]]
) -> None:
    series = regular([start] * len(values), *values)
    found = prepared(series, frequency)
    panel = found.panel
    numbers = np.repeat(np.arange(len(panel)), panel.lengths)
    steps = np.arange(len(numbers)) - panel.offsets[numbers]
    stamps = panel.axis.stamps_at(numbers, steps=steps)
    frame = pl.DataFrame({"unique_id": np.array(panel.ids)[numbers], "ds": stamps, "y": series.values[0]})

    expected = prepare(frame, DataContract(frequency=frequency))

    np.testing.assert_array_equal(panel.values, expected.panel.values)
    np.testing.assert_array_equal(panel.observed, expected.panel.observed)
    np.testing.assert_array_equal(panel.offsets, expected.panel.offsets)
    assert panel.ids == expected.panel.ids
    assert [(finding.kind, finding.series) for finding in found.findings] == [
        (finding.kind, finding.series) for finding in expected.report.findings
    ]
    for number, length in enumerate(panel.lengths.tolist()):
        ours = panel.axis.stamps(number, first=length, count=5)
        assert ours.equals(expected.panel.axis.stamps(number, first=length, count=5))


def test_a_series_at_fault_leaves_the_others_alone() -> None:
    series = regular([DAY, datetime(2024, 1, 30), DAY], [1.0, 2.0], [3.0], [])

    found = prepared(series, "ME")

    assert found.panel.ids == ("s0",)
    assert found.panel.values.tolist() == [1.0, 2.0]
    assert {name: type(error) for name, error in found.left_out.items()} == {"s1": FrequencyError, "s2": SeriesTooShort}
    assert [(error.series, error.field) for error in found.left_out.values()] == [("s1", "start"), ("s2", "y")]


def test_policies_hold_as_they_do_for_frames() -> None:
    series = regular([DAY, DAY, DAY], [1.0, 2.0], [3.0], [4.0, float("nan")])

    found = prepared(series, "D", on_missing="refuse", on_short="drop")

    assert {name: type(error) for name, error in found.left_out.items()} == {"s1": SeriesTooShort, "s2": MissingValues}


def test_there_may_be_no_series() -> None:
    series = regular([DAY], [1.0]).keep(np.array([False]))

    assert len(prepared(series, "D").panel) == 0


def test_no_series_may_be_left() -> None:
    found = prepared(regular([DAY], [1.0]), "ME", on_short="refuse")

    assert len(found.panel) == 0
    assert list(found.left_out) == ["s0"]


@pytest.mark.parametrize("frequency", ["99999h", "99999D", "99999B", "99999w", "99999ME", "99999QE", "99999YE"])
def test_a_horizon_that_leaves_the_calendar_is_refused(frequency: str) -> None:
    found = prepared(regular([datetime(2024, 12, 31)], [1.0, 2.0]), frequency, horizon=10_000)

    assert [str(error) for error in found.left_out.values()] == [
        "series 's0' would go on past the year 2261; ask for a shorter horizon, or give the frequency it has"
    ]


def test_integers_beyond_what_json_can_tell_apart_are_refused() -> None:
    found = prepared(regular([2**53 - 10, 5], [1.0], [1.0]), "3")

    assert list(found.left_out) == ["s0"]


@pytest.mark.parametrize(("start", "frequency"), [(DAY, "2"), (5, "D")])
def test_a_frequency_of_another_clock_is_refused(start: datetime | int, frequency: str) -> None:
    with pytest.raises(FrequencyError, match="starts are"):
        prepared(regular([start], [1.0]), frequency)
