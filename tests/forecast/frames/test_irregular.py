"""Stamps beside the steps: refused, or moved to the nearest step or their own, and every move is said."""

from datetime import date, datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from forecast.errors import DuplicateSteps, FrequencyError
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract, Prepared, prepare

DAY = datetime(2024, 3, 4)
PARKING = Columns(id="SystemCodeNumber", time="LastUpdated", target="Occupancy")


def read(stamps: object, frequency: str | int, policy: str, **contract: object) -> Prepared:
    times = pl.Series("ds", stamps)
    frame = pl.DataFrame({"ds": times, "y": np.arange(len(times), dtype=np.float64)})
    return prepare(frame, DataContract(frequency=frequency, on_irregular=policy, **contract))


def stamps_of(prepared: Prepared) -> list[object]:
    panel = prepared.panel
    return panel.axis.stamps(0, first=0, count=int(panel.lengths[0])).filter(panel.observed).to_list()


def minutes(*beside: float) -> list[datetime]:
    return [DAY + timedelta(hours=8, minutes=minute) for minute in beside]


@pytest.mark.parametrize(
    ("policy", "expected"), [("nearest", [0, 30, 60, 90, 120, 150]), ("floor", [-30, 0, 60, 90, 120, 150])]
)
def test_stamps_that_share_no_step_are_moved_to_the_round_ones(policy: str, expected: list[int]) -> None:
    prepared = read(minutes(-2, 29, 61, 104, 131, 154.5), "30min", policy)

    assert stamps_of(prepared) == minutes(*expected)
    (finding,) = prepared.report.of_kind("irregular")
    assert finding.count == 6
    assert finding.first_stamp == "2024-03-04 07:58:00"


def test_strays_are_moved_to_the_steps_that_most_stamps_share() -> None:
    prepared = read(minutes(7, 37, 67, 90, 127), "30min", "nearest")

    assert stamps_of(prepared) == minutes(7, 37, 67, 97, 127)
    (finding,) = prepared.report.of_kind("irregular")
    assert "has 1 stamps beside the steps of '30min', the furthest by 0:07:00, the first at 2024-03-04 09:30" in str(
        finding
    )
    assert "moved to the nearest step" in str(finding)


def test_each_series_has_steps_of_its_own() -> None:
    frame = pl.DataFrame(
        {"unique_id": ["a"] * 3 + ["b"] * 3, "ds": [*minutes(7, 37, 68), *minutes(1, 29, 58)], "y": [0.0] * 6}
    )

    prepared = prepare(frame, DataContract(frequency="30min", on_irregular="nearest"))

    assert prepared.panel.axis.stamps(0, first=0, count=3).to_list() == minutes(7, 37, 67)
    assert prepared.panel.axis.stamps(1, first=0, count=3).to_list() == minutes(0, 30, 60)
    assert [(finding.series, finding.count) for finding in prepared.report.of_kind("irregular")] == [("a", 1), ("b", 3)]


@pytest.mark.parametrize(
    ("stamps", "frequency", "policy", "expected"),
    [
        ([date(2024, 1, 30), date(2024, 3, 2), date(2024, 3, 31)], "ME", "nearest", [(1, 31), (2, 29), (3, 31)]),
        ([date(2024, 1, 30), date(2024, 2, 2), date(2024, 3, 31)], "ME", "floor", [(1, 31), (2, 29), (3, 31)]),
        ([date(2024, 3, 4), date(2024, 3, 10), date(2024, 3, 20)], "W-MON", "nearest", [(3, 4), (3, 11), (3, 18)]),
        ([date(2024, 3, 4), date(2024, 3, 16), date(2024, 3, 20)], "W-MON", "floor", [(3, 4), (3, 11), (3, 18)]),
        ([date(2024, 3, 8), date(2024, 3, 10), date(2024, 3, 12)], "B", "nearest", [(3, 8), (3, 11), (3, 12)]),
    ],
)
def test_days_are_moved_to_the_days_of_the_frequency(
    stamps: list[date], frequency: str, policy: str, expected: list[tuple[int, int]]
) -> None:
    assert stamps_of(read(stamps, frequency, policy)) == [date(2024, *day) for day in expected]


def test_days_with_a_time_that_wanders_are_moved_to_midnight() -> None:
    wandering = [datetime(2024, 3, day, hour) for day, hour in ((1, 23), (3, 1), (4, 2), (5, 11))]

    assert stamps_of(read(wandering, "D", "nearest")) == [datetime(2024, 3, day) for day in (2, 3, 4, 5)]
    assert stamps_of(read(wandering, "D", "floor")) == [datetime(2024, 3, day) for day in (1, 3, 4, 5)]


def test_integers_are_moved_to_multiples_of_the_stride() -> None:
    prepared = read([11, 19, 34, 40], 10, "nearest")

    assert stamps_of(prepared) == [10, 20, 30, 40]
    assert "the furthest by 4" in str(prepared.report)


def test_two_stamps_moved_to_one_step_follow_the_policy_for_duplicates() -> None:
    stamps = minutes(1, 2, 31)

    with pytest.raises(DuplicateSteps, match="1 rows for a step that has one already"):
        read(stamps, "30min", "nearest")
    assert read(stamps, "30min", "nearest", on_duplicate="last").panel.values.tolist() == [1, 2]
    assert read(stamps, "30min", "nearest", on_duplicate="mean").panel.values.tolist() == [0.5, 2]


def test_stamps_on_their_steps_are_left_alone() -> None:
    prepared = read(minutes(7, 37, 97), "30min", "nearest")

    assert stamps_of(prepared) == minutes(7, 37, 97)
    assert not prepared.report.of_kind("irregular")


def test_moving_needs_a_frequency() -> None:
    with pytest.raises(ValidationError, match="none is given; set the frequency, for example '30min'"):
        DataContract(on_irregular="nearest")


def test_a_frequency_of_another_kind_of_time_is_refused() -> None:
    with pytest.raises(FrequencyError, match="the stamps are integers"):
        read([1, 2, 4], "h", "nearest")


def test_the_refusal_names_the_policy() -> None:
    with pytest.raises(FrequencyError, match="give the frequency and set on_irregular='nearest' to move"):
        read([*minutes(0, 30, 60, 90), *minutes(100)], "30min", "refuse")


@given(
    st.lists(st.integers(0, 10**7), min_size=1, max_size=30, unique=True),
    st.sampled_from(["h", "90min", "6h", "D", "W-WED", "ME", "MS", "B", "QS-FEB", "YE-DEC"]),
    st.sampled_from([None, "Europe/Berlin", "America/New_York", "Asia/Kolkata"]),
    st.sampled_from(["ms", "us", "ns"]),
)
def test_every_stamp_is_moved_to_the_nearest_step(
    seconds: list[int], frequency: str, zone: str | None, unit: str
) -> None:
    instants = pl.Series([datetime(1990, 1, 1) + timedelta(seconds=second) for second in sorted(seconds)])
    stamps = instants.dt.cast_time_unit(unit)
    stamps = stamps if zone is None else stamps.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)

    panel = read(stamps, frequency, "nearest", on_duplicate="first").panel

    steps = np.arange(-2, panel.lengths[0] + 2)
    every = panel.axis.moments_at(np.zeros_like(steps), steps=steps)
    ticks, there = stamps.to_physical().to_numpy(), every.to_physical().to_numpy()
    nearest = np.abs(np.subtract.outer(ticks, there)).argmin(axis=1)
    assert panel.observed.nonzero()[0].tolist() == np.unique(steps[nearest]).tolist()


@pytest.mark.parametrize("load", [pl.read_csv, pd.read_csv])
def test_car_parks_are_read_every_half_hour(data_dir: Path, load) -> None:
    frame = load(data_dir / "open" / "hourly_parking.csv")
    contract = DataContract(columns=PARKING, frequency="30min", on_irregular="nearest", on_duplicate="mean")

    prepared = prepare(frame, contract)

    assert len(prepared.panel) == 30
    assert len(prepared.report.of_kind("irregular")) == 30
    assert all(
        finding.message.partition("furthest by ")[2] < "0:15:01" for finding in prepared.report.of_kind("irregular")
    )
    with pytest.raises(FrequencyError, match="set on_irregular='nearest'"):
        prepare(frame, DataContract(columns=PARKING))
