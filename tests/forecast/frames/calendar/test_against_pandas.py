"""Every calendar counts as pandas does: stamps come back as they were, and the horizon goes on as pandas would."""

from datetime import date, datetime, timedelta

import holidays
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pandas.tseries import offsets

from forecast.errors import FrequencyError
from forecast.frames.contract import DataContract, prepare
from forecast.frames.frequency import Frequency
from forecast.frames.panel import Panel

AHEAD = 25
UNITED_STATES = sorted(holidays.country_holidays("US", years=range(1880, 2101)))
LISTED = ("2001-01-02", "2001-01-03", "2024-07-05")
SPLIT = {"start": ["08:00", "13:00"], "end": ["12:00", "18:30"]}

ELAPSED = ("h", "30min", "90min", "5h", "s", "250ms", "36h")
WHOLE_DAYS = (
    *("D", "2D", "B", "3B", "W-SUN", "W-MON", "2W-THU", "SME-15", "SMS-15", "SME-10", "SMS-20", "3SME-15"),
    *("MS", "ME", "5MS", "BMS", "BME", "WOM-1MON", "WOM-3FRI", "2WOM-4SUN", "QS-FEB", "QE-NOV", "BQS-JAN", "BQE-DEC"),
    *("YS-APR", "YE-JUN", "BYS-JAN", "BYE-DEC"),
)
FISCAL = ("RE-N-DEC-MON", "RE-L-JAN-SAT", "REQ-N-DEC-MON-1", "REQ-L-AUG-THU-4", "2REQ-N-FEB-SUN-2")
OTHERS: dict[str, pd.DateOffset] = {
    "LWOM-FRI": offsets.LastWeekOfMonth(weekday=4),
    "B[US]": offsets.CustomBusinessDay(holidays=UNITED_STATES),
    "2B[sun-thu, US]": offsets.CustomBusinessDay(2, holidays=UNITED_STATES, weekmask="Sun Mon Tue Wed Thu"),
    "B[mon, wed, fri, 2001-01-02, 2001-01-03, 2024-07-05]": offsets.CustomBusinessDay(
        holidays=LISTED, weekmask="Mon Wed Fri"
    ),
    "BMS[US]": offsets.CustomBusinessMonthBegin(holidays=UNITED_STATES),
    "BME[US]": offsets.CustomBusinessMonthEnd(holidays=UNITED_STATES),
    "bh": offsets.BusinessHour(),
    "3bh": offsets.BusinessHour(3),
    "h[mon-fri, 08:00-12:00, 13:00-18:30]": offsets.BusinessHour(**SPLIT),
    "h[mon-sat, US, 09:00-17:00]": offsets.CustomBusinessHour(
        holidays=UNITED_STATES, weekmask="Mon Tue Wed Thu Fri Sat"
    ),
}
EVERY = (*ELAPSED, *WHOLE_DAYS, *FISCAL, *OTHERS)
STARTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1))
NO_HOLIDAYS_AFTER = datetime(2085, 1, 1)
ZONES = st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"])


def offset_of(text: str) -> pd.DateOffset:
    return OTHERS[text] if text in OTHERS else pd.tseries.frequencies.to_offset(text)


def stamps_of(text: str, first: datetime, *, count: int) -> pd.DatetimeIndex:
    """Give stamps as pandas does; opening hours begin on one of their steps."""
    if Frequency.parse(text).calendar.clock == "wall":
        first = first.replace(hour=9, minute=0, second=0, microsecond=0)
    elif text not in ELAPSED:
        first = first.replace(microsecond=0)
    if text.startswith(("R", "2R")):
        first = first.replace(year=min(first.year, 2150))
    return pd.date_range(first, periods=count, freq=offset_of(text))


def read(stamps: pl.Series, **contract: object) -> Panel:
    frame = pl.DataFrame({"ds": stamps, "y": np.arange(len(stamps), dtype=np.float64)})
    return prepare(frame, DataContract(**contract)).panel


def in_unit(stamps: pd.DatetimeIndex, unit: str) -> pl.Series:
    return pl.Series(stamps).dt.cast_time_unit(unit)


@pytest.mark.parametrize("text", EVERY)
@settings(max_examples=15)
@given(first=STARTS, count=st.integers(1, 40), unit=st.sampled_from(["ms", "us", "ns"]))
def test_stamps_come_back_and_go_on_as_pandas_has_them(text: str, first: datetime, count: int, unit: str) -> None:
    first = min(first, NO_HOLIDAYS_AFTER) if "US" in text else first
    stamps = in_unit(stamps_of(text, first, count=count + AHEAD), unit)

    panel = read(stamps[:count], frequency=text)

    assert Frequency.parse(panel.axis.frequency.text) == panel.axis.frequency == Frequency.parse(text)
    assert panel.lengths.tolist() == [count]
    assert panel.axis.stamps(0, first=0, count=count + AHEAD).equals(stamps)


@pytest.mark.parametrize("text", EVERY)
@settings(max_examples=8)
@given(first=STARTS, steps=st.sets(st.integers(0, 60), min_size=1, max_size=20), shuffled=st.randoms())
def test_gaps_and_the_order_of_rows_change_no_step(text: str, first: datetime, steps: set[int], shuffled) -> None:
    first = min(first, NO_HOLIDAYS_AFTER) if "US" in text else first
    every = stamps_of(text, first, count=61)
    kept = sorted(steps | {0})
    mixed = shuffled.sample(kept, len(kept))

    panel, again = (read(pl.Series(every[order]), frequency=text) for order in (kept, mixed))

    assert panel.observed.nonzero()[0].tolist() == kept
    assert again.observed.tolist() == panel.observed.tolist()
    assert panel.axis.stamps(0, first=0, count=61).equals(pl.Series(every))
    places = panel.axis.steps_at(np.zeros(61, dtype=np.int64), moments=pl.Series(every))
    assert places.tolist() == list(range(61))


@pytest.mark.parametrize("text", [*ELAPSED, *WHOLE_DAYS, "LWOM-FRI"])
@settings(max_examples=8)
@given(first=STARTS)
def test_a_frequency_is_read_from_its_stamps_and_goes_on_as_pandas_does(text: str, first: datetime) -> None:
    stamps = pl.Series(stamps_of(text, first, count=65))

    panel = read(stamps[:40])

    assert panel.lengths.tolist() == [40]
    assert panel.axis.stamps(0, first=40, count=25).equals(stamps[40:])


@pytest.mark.parametrize("text", [*ELAPSED, *WHOLE_DAYS, "bh", "B[US]", "LWOM-FRI"])
@settings(max_examples=8)
@given(
    first=st.datetimes(datetime(1972, 1, 1), datetime(2030, 1, 1)),
    zone=ZONES,
    unit=st.sampled_from(["ms", "us", "ns"]),
)
def test_zones_whose_clocks_change_have_neither_gap_nor_duplicate(
    text: str, first: datetime, zone: str, unit: str
) -> None:
    if text in ELAPSED:
        stamps = pd.date_range(pd.Timestamp(first, tz="UTC").tz_convert(zone), periods=60, freq=text)
    else:
        noon = first.replace(hour=12, minute=0, second=0, microsecond=0)  # no clock is changed at noon
        stamps = stamps_of(text, noon, count=60).tz_localize(zone)
    stamps = stamps[stamps.year < 2037]  # pandas' zones know no later change
    count = len(stamps) // 2 + 1

    panel = read(in_unit(stamps[:count], unit), frequency=text, on_gap="refuse")

    assert panel.axis.zone == zone
    assert panel.axis.stamps(0, first=0, count=len(stamps)).equals(in_unit(stamps, unit))


@pytest.mark.parametrize("text", EVERY)
def test_pandas_and_polars_are_read_alike(text: str) -> None:
    stamps = stamps_of(text, datetime(1999, 11, 3, 10), count=40)
    frame = pd.DataFrame({"ds": stamps[:30], "y": 1.0})

    by_pandas, by_polars = (
        prepare(given, DataContract(frequency=text)).panel for given in (frame, pl.DataFrame(frame))
    )

    for panel in (by_pandas, by_polars):
        assert panel.axis.stamps(0, first=0, count=40).equals(pl.Series(stamps))


@pytest.mark.parametrize(("zone", "frequency"), [("Europe/Berlin", "6h"), ("America/New_York", "12h")])
def test_hours_of_the_local_clock_stay_when_the_clock_is_changed(zone: str, frequency: str) -> None:
    local = pd.date_range("2023-03-01", "2024-04-30", freq=frequency).tz_localize(zone)
    half = len(local) // 2

    panel = read(pl.Series(local[:half]), on_gap="refuse")

    assert panel.axis.frequency.text == f"{frequency}[local]"
    assert panel.axis.stamps(0, first=0, count=len(local)).equals(pl.Series(local))


def test_local_hours_pass_a_midnight_that_the_clock_skips() -> None:
    zone = "America/Sao_Paulo"  # 2018-11-04 began at 01:00
    local = pd.date_range("2018-11-01", periods=40, freq="4h").tz_localize(zone, nonexistent="shift_forward")

    panel = read(pl.Series(local[:30]), frequency="4h[local]", on_gap="refuse")

    assert panel.axis.stamps(0, first=0, count=40).equals(pl.Series(local))


def test_steps_within_hours_of_opening_pass_nights_weekends_and_holidays_at_once() -> None:
    days = [date(2024, 7, day) for day in (3, 5, 8)]  # the fourth is a holiday, then comes a weekend
    opening = timedelta(hours=9, minutes=30)
    stamps = [
        datetime(day.year, day.month, day.day) + opening + timedelta(minutes=30 * step)
        for day in days
        for step in range(13)
    ]

    panel = read(pl.Series(stamps[:20]), frequency="30min[mon-fri, US, 09:30-16:00]", on_gap="refuse")

    assert panel.axis.stamps(0, first=0, count=39).to_list() == stamps
    assert panel.axis.frequency.season_length == 13


def test_a_row_while_it_is_closed_is_a_stray() -> None:
    stamps = [datetime(2024, 3, 8, 15), datetime(2024, 3, 8, 16), datetime(2024, 3, 8, 20), datetime(2024, 3, 11, 9)]

    with pytest.raises(FrequencyError, match=r"'bh' contradicts the stamps: 1 of 4 rows.*the first at 2024-03-08 20"):
        read(pl.Series(stamps), frequency="bh")
    moved = read(pl.Series(stamps), frequency="bh", on_irregular="nearest", on_duplicate="first")
    assert moved.lengths.tolist() == [3]


def test_holidays_beyond_the_years_that_are_known_are_refused() -> None:
    with pytest.raises(FrequencyError, match="holidays of 'DE' are known from 1991 to 2100 only"):
        read(pl.Series([date(1985, 1, 2), date(1985, 1, 3)]), frequency="B[DE]")
    panel = read(pl.Series([date(2100, 12, 29), date(2100, 12, 30)]), frequency="B[DE]")
    with pytest.raises(FrequencyError, match="ask for a shorter horizon"):
        panel.axis.stamps(0, first=2, count=10)


def test_hours_past_the_year_2262_are_refused_and_never_wrap_around() -> None:
    panel = read(pl.Series([datetime(2262, 1, 1, 1), datetime(2262, 1, 1, 2)]))

    assert panel.axis.stamps(0, first=2, count=2_000)[-1] == datetime(2262, 3, 25, 10)
    with pytest.raises(FrequencyError, match="steps of 'h' reach beyond the year 2262"):
        panel.axis.stamps(0, first=2, count=20_000)
