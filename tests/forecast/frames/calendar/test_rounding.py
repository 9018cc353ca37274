"""A moment between two steps belongs to the earlier one, whatever lies between: nights, weekends, holidays, weeks."""

from datetime import datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast.frames.contract import DataContract, prepare
from forecast.frames.time import TimeAxis

HOURS = ("h", "7h", "6h[local]", "bh", "3bh", "h[mon-sat, US, 08:00-12:00, 13:00-18:30]", "30min[sun-thu, 09:30-16:00]")
DAYS = (
    *("D", "3D", "W-THU", "B", "2B", "B[sun-thu, US]", "SME-15", "SMS-20", "2SMS-15", "MS", "BMS", "QS-FEB", "YS-APR"),
    *("WOM-3FRI", "LWOM-MON", "2WOM-1TUE", "RE-N-DEC-MON", "REQ-L-AUG-THU-4"),
)
COUNT = 400


def axis_of(frequency: str) -> TimeAxis:
    first = datetime(2019, 1, 3, 10)  # a working Thursday
    frame = pl.DataFrame({"ds": [first], "y": [1.0]})
    return prepare(frame, DataContract(frequency=frequency, on_irregular="nearest")).panel.axis


@pytest.mark.parametrize("frequency", [*HOURS, *DAYS])
@settings(max_examples=10)
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=50))
def test_the_step_of_a_moment_is_the_last_one_not_after_it(frequency: str, seconds: list[int]) -> None:
    axis, one = axis_of(frequency), np.zeros(COUNT, dtype=np.int64)
    every = axis.moments_at(one, steps=np.arange(-5, COUNT - 5))
    within = every[10]
    span = (every[-1] - within) / 10**6
    moments = pl.Series([within + span * second for second in seconds], dtype=pl.Datetime("us"))
    if frequency in DAYS:  # days are counted whatever the time of the day
        moments = moments.dt.truncate("1d") + (every[0] - every[0].replace(hour=0, minute=0))

    steps = axis.steps_at(one[:1].repeat(len(moments)), moments=moments)

    after = np.searchsorted(every.to_physical().to_numpy(), moments.to_physical().to_numpy(), side="right")
    assert steps.tolist() == (after - 1 - 5).tolist()


def test_nanoseconds_beyond_a_microsecond_are_kept_by_business_hours() -> None:
    opening = pl.Series([datetime(2024, 3, 8, 15), datetime(2024, 3, 8, 16), datetime(2024, 3, 11, 9)])
    stamps = opening.cast(pl.Datetime("ns")) + pl.duration(nanoseconds=7).cast(pl.Duration("ns"))
    frame = pl.DataFrame({"ds": pl.select(stamps).to_series(), "y": [1.0, 2.0, 3.0]})

    axis = prepare(frame, DataContract(frequency="bh", on_gap="refuse")).panel.axis

    assert axis.stamps(0, first=0, count=3).equals(frame["ds"])
    assert axis.stamps(0, first=3, count=1).to_physical()[0] % 1000 == 7


def test_the_origin_of_steps_need_not_be_a_working_day() -> None:
    saturday = pl.DataFrame({"ds": [datetime(2024, 3, 9), datetime(2024, 3, 11)], "y": [1.0, 2.0]})

    moved = prepare(saturday, DataContract(frequency="B", on_irregular="floor"))

    assert moved.panel.axis.stamps(0, first=0, count=2).to_list() == [datetime(2024, 3, 8), datetime(2024, 3, 11)]
