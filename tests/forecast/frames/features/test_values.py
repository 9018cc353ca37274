"""The numbers that calendar features give, held to dates that anybody can look up and to pandas' own arithmetic."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pydantic import ValidationError

from forecast.errors import ConfigError
from forecast.frames.features import (
    BusinessDay,
    DayOfMonth,
    DayOfYear,
    Feature,
    Fourier,
    Holidays,
    Hour,
    Minute,
    Month,
    Quarter,
    Season,
    Trend,
    Weekday,
    Weekend,
    WeekOfYear,
)
from forecast.frames.frequency import Frequency

STAMPS = pd.date_range("1999-12-20 00:13", "2009-02-03", freq="17h")
MOMENTS = pl.Series(STAMPS)
HOURLY = Frequency.parse("h")
DAILY = Frequency.parse("D")


def at(feature: Feature, *moments: datetime | date, frequency: Frequency = HOURLY) -> np.ndarray:
    series = pl.Series(moments, dtype=pl.Datetime("us"))
    return feature.columns(series, frequency=frequency)


def phases(feature: Feature, moments: pl.Series = MOMENTS, *, frequency: Frequency = HOURLY) -> np.ndarray:
    """The part of the cycle that is over, read back from sine and cosine."""
    circle = feature.columns(moments, frequency=frequency)
    return np.arctan2(circle[:, 0], circle[:, 1]) / (2 * np.pi) % 1


def close(found: np.ndarray, expected: np.ndarray) -> None:
    apart = (found - np.asarray(expected, dtype=np.float64) + 0.5) % 1 - 0.5  # 0 and 1 are one place on the circle
    assert np.abs(apart).max() < 1e-9


@pytest.mark.parametrize(
    ("feature", "expected"),
    [
        (Minute(), STAMPS.minute / 60),
        (Hour(), (STAMPS.hour + STAMPS.minute / 60) / 24),
        (Weekday(), STAMPS.dayofweek / 7),
        (DayOfMonth(), (STAMPS.day - 1) / STAMPS.days_in_month),
        (DayOfYear(), (STAMPS.dayofyear - 1) / np.where(STAMPS.is_leap_year, 366, 365)),
        (Month(), (STAMPS.month - 1) / 12),
        (Quarter(), (STAMPS.quarter - 1) / 4),
        (Fourier(period="day"), (STAMPS.hour + STAMPS.minute / 60) / 24),
        (Fourier(period="week"), (STAMPS.dayofweek + (STAMPS.hour + STAMPS.minute / 60) / 24) / 7),
        (Season(season_length=168), ((STAMPS - pd.Timestamp("1970-01-01")) // pd.Timedelta("1h")) % 168 / 168),
        (Fourier(period=36.5), ((STAMPS - pd.Timestamp("1970-01-01")) // pd.Timedelta("1h")) % 36.5 / 36.5),
    ],
)
def test_a_cycle_is_as_far_round_as_pandas_says(feature: Feature, expected: np.ndarray) -> None:
    close(phases(feature), expected)


def test_weeks_are_numbered_as_iso_does() -> None:
    iso = STAMPS.isocalendar()
    weeks_in_year = np.array([date(year, 12, 28).isocalendar().week for year in iso["year"]])

    close(phases(WeekOfYear()), (iso["week"].to_numpy() - 1) / weeks_in_year)


def test_named_periods_begin_and_end_with_the_calendars_own() -> None:
    for period, first, middle in (
        ("year", datetime(2024, 1, 1), datetime(2024, 7, 2)),
        ("quarter", datetime(2024, 4, 1), datetime(2024, 5, 16, 12)),
        ("month", datetime(2023, 2, 1), datetime(2023, 2, 15)),
        ("hour", datetime(2024, 1, 1, 5), datetime(2024, 1, 1, 5, 30)),
        ("minute", datetime(2024, 1, 1, 5), datetime(2024, 1, 1, 5, 0, 30)),
    ):
        close(phases(Fourier(period=period), pl.Series([first, middle])), np.array([0.0, 0.5]))


def test_harmonics_are_whole_multiples_of_the_period() -> None:
    columns = Fourier(period="day", order=3).columns(MOMENTS, frequency=HOURLY)

    hour = (STAMPS.hour + STAMPS.minute / 60).to_numpy()
    expected = [wave(2 * np.pi * order * hour / 24) for order in (1, 2, 3) for wave in (np.sin, np.cos)]
    np.testing.assert_allclose(columns, np.stack(expected, axis=1), atol=1e-9)


def test_the_hour_is_the_local_one_on_days_on_which_the_clock_changes() -> None:
    for day, hours in ((date(2024, 3, 31), [0, 1, 3, 4]), (date(2024, 10, 27), [0, 1, 2, 2, 3])):
        first = pd.Timestamp(day, tz="Europe/Berlin")
        stamps = pl.Series(pd.date_range(first, periods=len(hours), freq="h"))
        close(phases(Hour(), stamps), np.array(hours) / 24)


def test_one_hot_columns_are_named_by_what_they_mark() -> None:
    feature = Weekday(encoding="one_hot")

    columns = at(feature, datetime(2024, 3, 8, 23, 59))

    assert dict(zip(feature.names(HOURLY), columns[0], strict=True)) == {
        "weekday_mon": 0,
        "weekday_tue": 0,
        "weekday_wed": 0,
        "weekday_thu": 0,
        "weekday_fri": 1,
        "weekday_sat": 0,
        "weekday_sun": 0,
    }
    assert Hour(encoding="one_hot").columns(MOMENTS, frequency=HOURLY).argmax(axis=1).tolist() == STAMPS.hour.tolist()
    assert Month(encoding="one_hot").names(HOURLY)[11] == "month_dec"


@pytest.mark.parametrize(
    ("frequency", "stamps", "positions", "length"),
    [
        ("30min", ["2024-01-01 00:00", "2024-01-01 00:30", "2024-05-06 23:30"], [0, 1, 47], 48),
        ("MS", ["2024-01-01", "2024-12-01"], [0, 11], 12),
        ("QE-DEC", ["2024-03-31", "2024-12-31"], [0, 3], 4),
        ("B", ["2024-03-08", "2024-03-11", "2024-03-12"], [4, 0, 1], 5),
        ("SME-15", ["2024-01-15", "2024-01-31", "2024-12-31"], [0, 1, 23], 24),
        ("WOM-3FRI", ["2024-01-19", "2024-02-16"], [0, 1], 12),
        ("bh", ["2024-03-08 09:00", "2024-03-08 16:00", "2024-03-11 09:00"], [0, 7, 0], 8),
        ("B[US]", ["2024-07-03", "2024-07-05", "2024-07-08"], [0, 1, 2], 5),
    ],
)
def test_the_position_in_the_season_is_counted_from_one_origin(
    frequency: str, stamps: list[str], positions: list[int], length: int
) -> None:
    moments = pl.Series(pd.to_datetime(stamps))

    found = phases(Season(), moments, frequency=Frequency.parse(frequency))

    close(found - found[0], (np.array(positions) - positions[0]) / length)


def test_integers_have_a_position_in_a_season_of_steps() -> None:
    found = phases(Season(season_length=4), pl.Series([0, 5, 10, 15, 20, -5]), frequency=Frequency.parse(5))

    close(found, np.array([0, 1, 2, 3, 0, 3]) / 4)


def test_a_season_is_needed_where_the_frequency_has_none() -> None:
    with pytest.raises(ConfigError, match="steps of '7h' have none by default; give its season_length"):
        Season().names(Frequency.parse("7h"))


def test_weekends_are_those_of_the_place() -> None:
    week = [datetime(2024, 3, 4) + timedelta(days=day) for day in range(7)]

    assert at(Weekend(), *week)[:, 0].tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert at(Weekend(days=("fri", "sat")), *week)[:, 0].tolist() == [0, 0, 0, 0, 1, 1, 0]


def test_years_go_by_evenly_within_a_year() -> None:
    trend = at(Trend(), datetime(2000, 1, 1), datetime(2024, 7, 2), datetime(1999, 1, 1), datetime(2023, 12, 31, 12))

    np.testing.assert_allclose(trend[:, 0], [0, 24.5, -1, 24 - 0.5 / 365])


def test_holidays_are_those_of_the_country_and_its_part() -> None:
    days = [date(2024, 1, 1), date(2024, 1, 6), date(2024, 5, 30), date(2024, 7, 4), date(2024, 12, 25)]

    assert at(Holidays(country="DE"), *days)[:, 0].tolist() == [1, 0, 0, 0, 1]
    assert at(Holidays(country="DE", subdivision="BY"), *days)[:, 0].tolist() == [1, 1, 1, 0, 1]
    assert at(Holidays(country="US"), *days)[:, 0].tolist() == [1, 0, 0, 1, 1]


def test_a_holiday_is_the_whole_local_day() -> None:
    hours = pl.Series(pd.date_range("2024-12-24 12:00", periods=60, freq="h", tz="America/New_York"))

    found = Holidays(country="US").columns(hours, frequency=HOURLY)[:, 0]

    assert found.tolist() == [0] * 12 + [1] * 24 + [0] * 24


def test_days_around_a_holiday_have_columns_of_their_own() -> None:
    feature = Holidays(country="US", days_before=2, days_after=1)
    days = [date(2024, 7, day) for day in range(1, 8)]

    columns = at(feature, *days, frequency=DAILY)

    assert feature.names(DAILY) == ("holiday_US", "holiday_US_before_1", "holiday_US_before_2", "holiday_US_after_1")
    assert columns.T.tolist() == [
        [0, 0, 0, 1, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 0, 0],
    ]


def test_the_eve_of_a_holiday_of_the_next_year_is_known_in_this_one() -> None:
    columns = at(Holidays(country="DE", days_before=1), date(2023, 12, 31), frequency=DAILY)

    assert columns.tolist() == [[0, 1]]


def test_a_working_day_that_stands_in_for_a_holiday_counts_unless_it_is_told_not_to() -> None:
    christmas = [date(2022, 12, 25), date(2022, 12, 26)]  # a Sunday and the Monday after it

    assert at(Holidays(country="US"), *christmas)[:, 0].tolist() == [1, 1]
    assert at(Holidays(country="US", observed=False), *christmas)[:, 0].tolist() == [1, 0]


def test_holidays_that_nobody_knows_are_refused_and_not_read_as_none() -> None:
    with pytest.raises(ConfigError, match="holidays of 'DE' are known from 1991 to 2100, the stamps reach from 1985"):
        at(Holidays(country="DE"), date(1985, 1, 1), date(1995, 1, 1))


def test_business_days_leave_out_rest_and_holidays() -> None:
    days = [date(2024, 7, day) for day in range(3, 9)]  # Wednesday to Monday, the fourth on Thursday

    assert at(BusinessDay(), *days)[:, 0].tolist() == [1, 1, 1, 0, 0, 1]
    assert at(BusinessDay(country="US"), *days)[:, 0].tolist() == [1, 0, 1, 0, 0, 1]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Holidays(country="Germany"), "no holidays are known of country 'Germany'; write its ISO 3166 code"),
        (lambda: Holidays(country="DE", subdivision="QQ"), "country 'DE' has no subdivision 'QQ'; choose one of BB"),
        (lambda: BusinessDay(subdivision="BY"), "name the country too"),
        (lambda: Fourier(period=24, order=13), "order 13 is too high for a period of 24 steps: 12 at most"),
    ],
)
def test_a_setting_that_means_nothing_is_refused(make: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        make()
