"""Rows of a second frame beside the steps of their series: left out with a notice, or moved like the first frame's."""

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.errors import CovariatesMissing, DuplicateSteps
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract, Prepared, prepare
from forecast.frames.covariate_columns import CovariateColumns
from tests.forecast.frames.covariate_frames import told

MakeFrame = Callable[[Mapping[str, Any]], Any]

EIGHT = datetime(2024, 3, 4, 8)
PRICE = CovariateColumns(future=("price",))
MOVED = {"nearest": "moved to the nearest step", "floor": "moved to the step that each lies in"}


def minutes(*after: float) -> list[datetime]:
    return [EIGHT + timedelta(minutes=minute) for minute in after]


HISTORY = {"ds": minutes(0, 30, 60), "y": [1.0, 2.0, 3.0], "price": [1.0, 2.0, 3.0]}


def read(frame: Any, beside: Any, policy: str, *, horizon: int = 2, **changes: Any) -> Prepared:
    contract = DataContract(**{"frequency": "30min", "covariates": PRICE, "on_irregular": policy, **changes})
    return prepare(frame, contract, covariates=beside, horizon=horizon)


# ---- Where rows go

MOVES = [
    ("nearest", (91, 119), [1, 2], 2, "09:31:00", "0:01:00"),
    ("nearest", (76, 119), [1, 2], 2, "09:16:00", "0:14:00"),
    ("nearest", (90, 135), [1, 2], 1, "10:15:00", "0:15:00"),  # of two steps as near the earlier
    ("nearest", (90, 120.5), [1, 2], 1, "10:00:30", "0:00:30"),
    ("floor", (91, 149), [1, 2], 2, "09:31:00", "0:29:00"),
    ("floor", (90, 120.5), [1, 2], 1, "10:00:30", "0:00:30"),
]


@pytest.mark.parametrize(("policy", "at", "expected", "count", "first", "shift"), MOVES)
def test_rows_beside_the_steps_are_moved_by_the_policy_and_reported(
    make_frame: MakeFrame, policy: str, at: tuple[float, ...], expected: list[int], count: int, first: str, shift: str
) -> None:
    beside = make_frame({"ds": minutes(*at), "price": [1.0, 2.0]})

    prepared = read(make_frame(HISTORY), beside, policy)

    assert told(prepared, "price") == [[1, 2, 3, *expected]]
    (finding,) = prepared.report.findings
    assert (finding.kind, finding.count, finding.series, finding.column) == ("irregular", count, "series", "ds")
    assert finding.action == MOVED[policy]
    assert finding.first_stamp == f"2024-03-04 {first}"
    assert f"rows of covariates beside the steps of '30min', the furthest by {shift}, the first at 2024" in str(finding)


def test_rows_on_their_steps_are_left_alone(make_frame: MakeFrame) -> None:
    prepared = read(make_frame(HISTORY), make_frame({"ds": minutes(90, 120), "price": [1.0, 2.0]}), "nearest")

    assert told(prepared, "price") == [[1, 2, 3, 1, 2]]
    assert prepared.report.findings == ()


def test_by_default_they_are_left_out_with_a_notice(make_frame: MakeFrame) -> None:
    beside = {"ds": minutes(90, 91, 119, 120), "price": [1.0, -1.0, -1.0, 2.0]}

    prepared = read(make_frame(HISTORY), make_frame(beside), "refuse")

    assert told(prepared, "price") == [[1, 2, 3, 1, 2]]
    (finding,) = prepared.report.findings
    assert (finding.kind, finding.count, finding.action) == ("unused_covariates", 2, "not used")
    assert "2 rows of covariates are not on a step of their series, the first at 2024-03-04 09:31" in finding.message


def test_what_is_left_out_is_missing(make_frame: MakeFrame) -> None:
    with pytest.raises(CovariatesMissing, match=r"is not at 1 of them: \('series', 2024-03-04 10:00:00\)"):
        read(make_frame(HISTORY), make_frame({"ds": minutes(90, 119), "price": [1.0, 2.0]}), "refuse")


DAYS = [
    (
        [date(2024, 1, 31), date(2024, 2, 29)],
        "ME",
        {"nearest": [date(2024, 4, 2), date(2024, 4, 29)], "floor": [date(2024, 3, 2), date(2024, 4, 3)]},
    ),
    (
        [date(2024, 3, 4), date(2024, 3, 11)],
        "W-MON",
        {"nearest": [date(2024, 3, 16), date(2024, 3, 28)], "floor": [date(2024, 3, 24), date(2024, 3, 31)]},
    ),
    ([10, 20], 10, {"nearest": [26, 44], "floor": [39, 49]}),
]


@pytest.mark.parametrize("policy", ["nearest", "floor"])
@pytest.mark.parametrize(("stamps", "frequency", "at"), DAYS, ids=["months", "weeks", "integers"])
def test_rows_are_moved_on_any_calendar(
    make_frame: MakeFrame, stamps: list[Any], frequency: str | int, at: Mapping[str, list[Any]], policy: str
) -> None:
    frame = make_frame({"ds": stamps, "y": [1.0, 2.0], "price": [1.0, 2.0]})

    prepared = read(frame, make_frame({"ds": at[policy], "price": [3.0, 4.0]}), policy, frequency=frequency)

    assert told(prepared, "price") == [[1, 2, 3, 4]]
    assert [finding.count for finding in prepared.report.of_kind("irregular")] == [2]


def test_local_days_are_moved_on_the_clock_of_the_wall() -> None:
    days = pl.Series([datetime(2024, 3, 29), datetime(2024, 3, 30)]).dt.replace_time_zone("Europe/Berlin")
    frame = pl.DataFrame({"ds": days, "y": [1.0, 2.0], "price": [1.0, 2.0]})
    # The clock goes forward on the 31st: its last hour of daylight saving belongs to the next midnight.
    later = pl.Series([datetime(2024, 3, 31, 1), datetime(2024, 3, 31, 23)]).dt.replace_time_zone("Europe/Berlin")

    prepared = read(
        frame, pl.DataFrame({"ds": later.dt.convert_time_zone("UTC"), "price": [3.0, 4.0]}), "nearest", frequency="D"
    )

    assert told(prepared, "price") == [[1, 2, 3, 4]]


# ---- Each series by its own steps


def two_series() -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """`a` has its steps on the half hour, `b` seven minutes later; both have strays, and rows ahead that wander."""
    frame = {
        "unique_id": ["a"] * 4 + ["b"] * 4,
        "ds": [*minutes(0, 30, 60, 91), *minutes(7, 37, 67, 96)],
        "y": [1.0] * 8,
        "price": [float(number) for number in range(8)],
    }
    beside = {"unique_id": ["b", "a"], "ds": minutes(128, 118), "price": [20.0, 10.0]}
    return frame, beside


def test_rows_go_to_the_steps_that_their_own_series_has_after_its_own_moves(make_frame: MakeFrame) -> None:
    frame, beside = map(make_frame, two_series())

    prepared = read(frame, beside, "nearest", horizon=1)

    assert told(prepared, "price") == [[0, 1, 2, 3, 10], [4, 5, 6, 7, 20]]
    found = [finding for finding in prepared.report.of_kind("irregular") if "covariates" in finding.message]
    assert [(finding.series, finding.count, finding.first_stamp) for finding in found] == [
        ("a", 1, "2024-03-04 09:58:00"),
        ("b", 1, "2024-03-04 10:08:00"),
    ]
    assert ["the furthest by 0:02:00" in found[0].message, "the furthest by 0:01:00" in found[1].message] == [True] * 2


def test_a_row_about_every_series_is_moved_to_the_steps_of_each(make_frame: MakeFrame) -> None:
    frame, _ = two_series()

    prepared = read(make_frame(frame), make_frame({"ds": minutes(124), "price": [9.0]}), "nearest", horizon=1)

    assert told(prepared, "price") == [[0, 1, 2, 3, 9], [4, 5, 6, 7, 9]]
    found = [finding for finding in prepared.report.of_kind("irregular") if "covariates" in finding.message]
    assert [finding.message.partition("furthest by ")[2][:7] for finding in found] == ["0:04:00", "0:03:00"]


def test_of_several_targets_one_row_is_one_row() -> None:
    frame = pl.DataFrame(HISTORY | {"z": [3.0, 2.0, 1.0]})
    beside = pl.DataFrame({"ds": minutes(91, 119), "price": [4.0, 5.0]})

    prepared = read(frame, beside, "nearest", columns=Columns(target=("y", "z")))

    assert told(prepared, "price") == [[1, 2, 3, 4, 5]] * 2
    assert [finding.count for finding in prepared.report.of_kind("irregular")] == [2]


@pytest.mark.parametrize(
    ("policy", "at", "where"),
    [
        ("nearest", -16, "lie before the start of their series"),
        ("floor", -1, "lie before the start of their series"),
        ("nearest", 136, "lie past the horizon"),
        ("floor", 151, "lie past the horizon"),
    ],
)
def test_a_row_that_is_moved_to_no_step_of_its_series_is_not_used(
    make_frame: MakeFrame, policy: str, at: int, where: str
) -> None:
    beside = {"ds": minutes(90, 120, at), "price": [4.0, 5.0, -1.0]}

    prepared = read(make_frame(HISTORY), make_frame(beside), policy)

    assert told(prepared, "price") == [[1, 2, 3, 4, 5]]
    (finding,) = prepared.report.findings  # what is not used was not moved either
    assert finding.kind == "unused_covariates"
    assert f"1 rows of covariates {where}" in finding.message


# ---- Two rows that a move puts on one step

TWICE = {"ds": minutes(123, 90, 117, 119), "price": [3.0, 9.0, 1.0, 2.0]}


@pytest.mark.parametrize(("on_duplicate", "kept"), [("first", 1.0), ("mean", 1.0), ("last", 3.0)])
def test_rows_that_are_moved_to_one_step_are_settled_by_the_policy_for_duplicates_in_order_of_time(
    make_frame: MakeFrame, on_duplicate: str, kept: float
) -> None:
    prepared = read(make_frame(HISTORY), make_frame(TWICE), "nearest", on_duplicate=on_duplicate)

    assert told(prepared, "price") == [[1, 2, 3, 9, kept]]
    assert [(finding.kind, finding.count) for finding in prepared.report.findings] == [
        ("irregular", 3),
        ("duplicates", 2),
    ]


def test_rows_that_are_moved_to_one_step_are_refused_by_default(make_frame: MakeFrame) -> None:
    with pytest.raises(DuplicateSteps, match=r"2 rows of covariates for a step .* at 2024-03-04 10:00:00; .*on_dup"):
        read(make_frame(HISTORY), make_frame(TWICE), "nearest")


# ---- The law

LENGTHS = {"30min": 300, "90min": 100, "h": 150, "D": 8}


@given(
    st.lists(st.integers(-200, 12_000), min_size=1, max_size=30, unique=True),
    st.sampled_from(["nearest", "floor"]),
    st.sampled_from(["first", "last"]),
    st.sampled_from(list(LENGTHS)),
    st.sampled_from([None, "Europe/Berlin", "Asia/Kolkata"]),
)
def test_every_row_tells_the_step_that_is_nearest_or_that_it_lies_in(
    at: list[int], policy: str, on_duplicate: str, frequency: str, zone: str | None
) -> None:
    start = pd.Timestamp("2024-03-28", tz=zone)  # three days before the clock of Berlin goes forward
    steps = pd.date_range(start, periods=LENGTHS[frequency], freq=frequency)
    rows = pd.DataFrame({"ds": [start + pd.Timedelta(minutes=minute) for minute in at], "price": range(len(at))})
    contract = {"covariates": CovariateColumns(past=("price",)), "frequency": frequency, "on_duplicate": on_duplicate}

    prepared = read(pd.DataFrame({"ds": steps, "y": 1.0}), rows, policy, horizon=0, **contract)

    numbers = np.arange(-5, len(steps) + 5)
    axis = prepared.panel.axis
    there = axis.moments_at(np.zeros_like(numbers), steps=numbers).dt.epoch("s").to_numpy()
    expected: list[float | None] = [None] * len(steps)
    moved = set()
    for minute, price in sorted(zip(at, range(len(at)), strict=True), reverse=on_duplicate == "first"):
        second = (start + pd.Timedelta(minutes=minute)).timestamp()
        place = np.abs(there - second).argmin() if policy == "nearest" else (there <= second).sum() - 1
        if 0 <= numbers[place] < len(steps):
            expected[numbers[place]] = price
            moved |= {minute} if there[place] != second else set()
    assert told(prepared, "price") == [expected]
    assert sum(finding.count for finding in prepared.report.of_kind("irregular")) == len(moved)
