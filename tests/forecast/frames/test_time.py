"""Stamps continue each series' own pattern, and come back in the caller's type."""

from datetime import date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from forecast.errors import FrequencyError
from forecast.frames.contract import DataContract, prepare
from forecast.frames.panel import Panel

PERIODS, AHEAD = 40, 30

PANDAS_FREQUENCIES = [
    *("h", "30min", "15min", "90min", "s", "7ms", "D", "2D", "B"),
    *(f"W-{day}" for day in ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")),
    *("2W-TUE", "MS", "ME", "2MS", "5ME", "BMS", "BME"),
    *(f"{rule}-{month}" for rule in ("QS", "BQS") for month in ("JAN", "FEB", "MAR")),
    *(f"{rule}-{month}" for rule in ("QE", "BQE") for month in ("OCT", "NOV", "DEC")),
    *(f"{rule}-{month}" for rule in ("YS", "YE", "BYS", "BYE") for month in ("JAN", "FEB", "JUN", "DEC")),
]


def read(stamps: pl.Series | list[date] | list[datetime], **contract: object) -> Panel:
    frame = pl.DataFrame({"ds": stamps, "y": np.arange(len(stamps), dtype=np.float64)})
    return prepare(frame, DataContract(**contract)).panel


def ahead(panel: Panel, count: int) -> pl.Series:
    return panel.axis.stamps(0, first=int(panel.lengths[0]), count=count)


@pytest.mark.parametrize("frequency", PANDAS_FREQUENCIES)
def test_a_pandas_frequency_is_read_from_its_stamps_and_continued_as_pandas_does(frequency: str) -> None:
    stamps = pd.date_range("1999-11-03 00:00", periods=PERIODS + AHEAD, freq=frequency)

    panel = read(pl.Series(stamps[:PERIODS]))

    assert panel.axis.frequency.text == frequency
    assert panel.lengths.tolist() == [PERIODS]
    assert ahead(panel, AHEAD).to_list() == stamps[PERIODS:].to_pydatetime().tolist()


@pytest.mark.parametrize("frequency", PANDAS_FREQUENCIES)
def test_a_frequency_that_is_given_continues_a_single_row(frequency: str) -> None:
    stamps = pd.date_range("1999-11-03 00:00", periods=1 + AHEAD, freq=frequency)

    panel = read(pl.Series(stamps[:1]), frequency=frequency)

    assert ahead(panel, AHEAD).to_list() == stamps[1:].to_pydatetime().tolist()


@pytest.mark.parametrize(
    ("stamps", "expected", "frequency"),
    [
        (["2023-01-31", "2023-02-28"], ["2023-03-31", "2023-04-30"], "ME"),
        (["2024-01-31", "2024-02-29"], ["2024-03-31", "2024-04-30"], "ME"),
        (["2023-02-28", "2023-03-31"], ["2023-04-30", "2023-05-31"], "ME"),
        (["2023-01-15", "2023-02-15"], ["2023-03-15", "2023-04-15"], "1mo"),
        (["2023-01-30", "2023-02-28"], ["2023-03-30", "2023-04-30"], "1mo"),
        (["2023-01-30", "2023-02-28", "2023-03-30"], ["2023-04-30", "2023-05-30"], "1mo"),
        (["2023-01-29", "2023-02-28", "2023-03-29"], ["2023-04-29", "2023-05-29"], "1mo"),
        (["2023-01-01", "2023-02-01"], ["2023-03-01", "2023-04-01"], "MS"),
        (["2023-02-15", "2023-05-15"], ["2023-08-15", "2023-11-15"], "1q"),
        (["2020-02-29", "2024-02-29"], ["2028-02-29", "2032-02-29"], "4YE-FEB"),
        (["2020-03-15", "2021-03-15"], ["2022-03-15", "2023-03-15"], "1y"),
        (["2024-03-01", "2024-03-08"], ["2024-03-15", "2024-03-22"], "W-FRI"),
        (["2024-02-05", "2024-03-04", "2024-04-01"], ["2024-04-29", "2024-05-27"], "4W-MON"),
        (["2024-03-07", "2024-03-08", "2024-03-11"], ["2024-03-12", "2024-03-13"], "B"),
        (["2024-03-07", "2024-03-08"], ["2024-03-09", "2024-03-10"], "D"),
    ],
)
def test_few_stamps_continue_their_own_pattern(stamps: list[str], expected: list[str], frequency: str) -> None:
    panel = read([date.fromisoformat(stamp) for stamp in stamps])

    assert panel.axis.frequency.text == frequency
    assert ahead(panel, 2).to_list() == [date.fromisoformat(stamp) for stamp in expected]


def test_each_series_keeps_its_own_day_of_the_month() -> None:
    frame = pl.DataFrame(
        {
            "unique_id": ["a"] * 3 + ["b"] * 3,
            "ds": [date(2023, *day) for day in ((1, 15), (2, 15), (3, 15), (1, 31), (2, 28), (3, 31))],
            "y": [1.0] * 6,
        }
    )

    axis = prepare(frame).panel.axis

    assert axis.frequency.text == "1mo"
    assert axis.stamps(0, first=3, count=2).to_list() == [date(2023, 4, 15), date(2023, 5, 15)]
    assert axis.stamps(1, first=3, count=2).to_list() == [date(2023, 4, 30), date(2023, 5, 31)]


def test_each_series_keeps_its_own_time_of_day() -> None:
    days = [datetime(2023, 1, day) for day in (1, 2, 3)]
    frame = pl.DataFrame(
        {
            "unique_id": ["a"] * 3 + ["b"] * 3,
            "ds": [day.replace(hour=6) for day in days] + [day.replace(hour=18, minute=30) for day in days],
            "y": [1.0] * 6,
        }
    )

    axis = prepare(frame).panel.axis

    assert axis.frequency.text == "D"
    assert axis.stamps(0, first=3, count=1).to_list() == [datetime(2023, 1, 4, 6)]
    assert axis.stamps(1, first=3, count=1).to_list() == [datetime(2023, 1, 4, 18, 30)]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"])
@pytest.mark.parametrize("frequency", ["15min", "h", "6h", "D", "W-SUN", "ME", "B"])
def test_a_year_of_stamps_in_a_zone_has_no_gap_and_no_duplicate(zone: str, frequency: str) -> None:
    stamps = pd.date_range("2023-01-01", "2024-02-01", freq=frequency, tz=zone)
    if frequency == "6h":  # pandas counts it in elapsed time too, so that local hours move when the clock changes
        assert stamps[1] - stamps[0] == pd.Timedelta("6h")
    half = len(stamps) // 2

    panel = read(pl.Series(stamps[:half]))

    assert panel.axis.frequency.text == frequency
    assert panel.axis.zone == zone
    assert panel.observed.all()
    assert ahead(panel, len(stamps) - half).equals(pl.Series(stamps[half:]))


def test_daily_stamps_survive_a_midnight_that_the_clock_skips() -> None:
    zone = "America/Sao_Paulo"  # 2018-11-04 began at 01:00
    stamps = pd.date_range("2018-11-01", periods=8, freq="D").tz_localize(zone, nonexistent="shift_forward")
    assert stamps[3].hour == 1

    for first in range(5):
        panel = read(pl.Series(stamps[first : first + 3]))
        assert panel.lengths.tolist() == [3]
        assert ahead(panel, 5 - first).equals(pl.Series(stamps[first + 3 :])), first


@pytest.mark.parametrize("rows", [slice(0, 2), slice(0, None)])
def test_two_rows_across_a_clock_change_are_one_hour_apart(rows: slice) -> None:
    stamps = pd.date_range("2024-03-31 01:00", periods=3, freq="h", tz="Europe/Berlin")

    assert read(pl.Series(stamps[rows])).axis.frequency.text == "h"


@pytest.mark.parametrize(
    "dtype",
    [
        *(pl.Datetime(unit) for unit in ("ms", "us", "ns")),
        *(pl.Datetime(unit, "Europe/Berlin") for unit in ("ms", "us", "ns")),
        *(pl.Date(), pl.Int64(), pl.Int32(), pl.UInt16()),
    ],
)
def test_polars_types_come_back(dtype: pl.DataType) -> None:
    numbers = pl.Series([3, 4, 5])
    stamps = (numbers if dtype.is_integer() else numbers.cast(pl.Int32).cast(pl.Date).cast(pl.Datetime("us"))).cast(
        dtype
    )

    panel = read(stamps)

    assert panel.axis.stamps(0, first=0, count=3).equals(stamps)
    assert ahead(panel, 2).dtype == dtype


@pytest.mark.parametrize("year", [1500, 9000])
def test_years_that_nanoseconds_cannot_hold_are_counted(year: int) -> None:
    stamps = [date(year + number, 1, 1) for number in range(6)]

    assert ahead(read(stamps), 1).to_list() == [date(year + 6, 1, 1)]


def test_a_forecast_beyond_the_callers_time_unit_is_refused() -> None:
    panel = read(pl.Series([date(2020, 1, 1), date(2021, 1, 1)]).cast(pl.Datetime("ns")))

    with pytest.raises(FrequencyError, match="coarser unit than nanoseconds"):
        ahead(panel, 300)


def test_a_forecast_that_the_callers_integers_cannot_hold_is_refused() -> None:
    panel = read(pl.Series([250, 251, 252], dtype=pl.UInt8))

    assert ahead(panel, 3).to_list() == [253, 254, 255]
    with pytest.raises(FrequencyError, match="stamps up to 256 do not fit UInt8"):
        ahead(panel, 4)


def test_selected_series_keep_their_stamps() -> None:
    frame = pl.DataFrame({"unique_id": ["a", "a", "b", "b"], "ds": [1, 2, 10, 11], "y": [0.0] * 4})
    axis = prepare(frame).panel.axis

    assert axis.select([1]).stamps(0, first=0, count=2).to_list() == [10, 11]
