"""The time column: what is read, what is refused by name, and what an hour that comes twice or never does."""

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest

from forecast.errors import DataError, FrequencyError, MissingValues, WrongType
from forecast.frames.contract import DataContract, Prepared, prepare

BERLIN = "Europe/Berlin"
SKIPPED = datetime(2024, 3, 31, 2)  # in Berlin
DOUBLED = datetime(2024, 10, 27, 2)


def read(stamps: object, *, zone: str | None = None, **contract: object) -> Prepared:
    times = pl.Series("ds", stamps)
    frame = pl.DataFrame({"ds": times, "y": np.arange(len(times), dtype=np.float64)})
    return prepare(frame, DataContract(zone=zone, **contract))


def hours(first: datetime, count: int) -> list[datetime]:
    return [first + timedelta(hours=hour) for hour in range(count)]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["2024-01-30", "2024-01-31"], "2024-02-01"),
        (["2024-01-31 22:00", "2024-01-31 23:00"], "2024-02-01 00:00"),
        (["2024-01-31T22:00:00", "2024-01-31T23:00:00"], "2024-02-01T00:00:00"),
        (["2024-01-31 22:00:00.250", "2024-01-31 22:00:00.500"], "2024-01-31 22:00:00.750"),
        (["2024-01-31T22:00:00Z", "2024-01-31T23:00:00Z"], "2024-02-01T00:00:00Z"),
        (["2024-01-31T22:00:00+01:00", "2024-01-31T23:00:00+01:00"], "2024-01-31T23:00:00+00:00"),
    ],
)
def test_iso_text_is_read_and_answered_in_its_own_spelling(texts: list[str], expected: str) -> None:
    axis = read(texts).panel.axis

    assert axis.stamps(0, first=2, count=1).to_list() == [expected]


def test_text_with_offsets_is_answered_in_the_zone_of_the_contract() -> None:
    texts = ["2024-03-31T00:00:00+01:00", "2024-03-31T01:00:00+01:00", "2024-03-31T03:00:00+02:00"]

    panel = read(texts, zone=BERLIN).panel

    assert panel.observed.tolist() == [True] * 3
    assert panel.axis.stamps(0, first=0, count=4).to_list() == [*texts, "2024-03-31T04:00:00+02:00"]


@pytest.mark.parametrize("text", ["02/01/2019", "Jan 2019", "2019", "20190102", "2019-13-01", "yesterday", ""])
def test_text_that_is_not_iso_is_refused_by_name(text: str) -> None:
    with pytest.raises(WrongType, match=r"column 'ds'.*ISO 8601") as caught:
        read([text, text])

    assert repr(text) in str(caught.value)


def test_text_that_changes_its_spelling_is_refused_by_its_first_offender() -> None:
    with pytest.raises(WrongType, match=r"1 stamps not written like '2024-01-30', the first at 31/01/2024"):
        read(["2024-01-30", "31/01/2024"])


@pytest.mark.parametrize(
    ("stamps", "holds"),
    [
        ([1.0, 2.0], "Float64"),
        ([True, False], "Boolean"),
        ([timedelta(hours=1), timedelta(hours=2)], "Duration"),
        ([None, None], "Null"),
    ],
)
def test_what_is_no_time_is_refused_and_never_read_as_1970(stamps: list[object], holds: str) -> None:
    with pytest.raises(WrongType, match=rf"column 'ds' must hold datetimes.*it holds {holds}"):
        read(stamps)


def test_pandas_periods_are_refused_by_name() -> None:
    periods = pd.DataFrame({"ds": pd.period_range("2024-01", periods=3, freq="M"), "y": 1.0})

    with pytest.raises(WrongType, match="column 'ds'"):
        prepare(periods)


def test_whole_numbers_held_as_floats_are_refused_with_the_cast_to_make() -> None:
    with pytest.raises(WrongType, match=r"it holds Float64 \(the first is 1.0\); cast its whole numbers to integers"):
        read([1.0, 2.0])
    with pytest.raises(WrongType, match=r"it holds Float64 \(the first is 1.5\); convert it first"):
        read([1.5, 2.0])


def test_integers_are_steps() -> None:
    panel = read([20, 10, 40]).panel

    assert panel.axis.frequency.text == "10"
    assert panel.observed.tolist() == [True, True, False, True]
    assert panel.axis.stamps(0, first=4, count=2).to_list() == [50, 60]


@pytest.mark.parametrize(
    ("stamps", "frequency", "message"),
    [
        ([1, 2], "h", "the stamps are integers, so the frequency must be a whole number, got 'h'"),
        ([datetime(2024, 1, 1), datetime(2024, 1, 2)], 24, "must be a calendar's, for example 'h' or 'D', got '24'"),
        ([date(2024, 1, 1), date(2024, 1, 2)], "h", "cannot be finer than 'D', got 'h'"),
    ],
)
def test_a_frequency_of_another_kind_of_time_is_refused(stamps: list[object], frequency: object, message: str) -> None:
    with pytest.raises(FrequencyError, match=message):
        read(stamps, frequency=frequency)


def test_a_row_without_a_stamp_is_named() -> None:
    with pytest.raises(
        MissingValues, match=r"series 'series': column 'ds' has 2 rows without a stamp, the first at row 1"
    ):
        read([datetime(2024, 1, 1), None, None, datetime(2024, 1, 2)])


def test_local_time_that_the_clock_skips_is_no_gap() -> None:
    local = [stamp for stamp in hours(datetime(2024, 3, 30), 48) if stamp != SKIPPED]

    prepared = read(local, zone=BERLIN)

    assert prepared.panel.observed.all()
    assert len(prepared.panel.observed) == 47
    assert prepared.panel.axis.stamps(0, first=0, count=47).to_list() == local
    assert not prepared.report.of_kind("gaps")


def test_without_a_zone_the_same_hour_is_a_gap() -> None:
    local = [stamp for stamp in hours(datetime(2024, 3, 30), 48) if stamp != SKIPPED]

    (gap,) = read(local).report.of_kind("gaps")

    assert (gap.count, gap.first_stamp) == (1, "2024-03-31 02:00:00")


def test_local_time_that_comes_twice_is_no_duplicate() -> None:
    local = [*hours(datetime(2024, 10, 27), 3), DOUBLED, *hours(datetime(2024, 10, 27, 3), 5)]

    prepared = read(local, zone=BERLIN)

    assert prepared.panel.values.tolist() == list(range(9))
    assert prepared.panel.axis.stamps(0, first=0, count=9).to_list() == local
    assert not prepared.report.of_kind("duplicates")
    (change,) = prepared.report.of_kind("clock_change")
    assert "1 rows that repeat a local time in an hour that comes twice: read as its second pass" in str(change)


def test_days_of_another_zone_are_counted_in_elapsed_time() -> None:
    stamps = pd.date_range("2024-03-01", periods=60, freq="D", tz="UTC").tz_convert(BERLIN)

    axis = read(pl.Series(stamps[:50])).panel.axis

    assert axis.frequency.text == "24h"
    assert axis.frequency.season_length == 7
    assert axis.stamps(0, first=50, count=10).equals(pl.Series(stamps[50:]))


def test_local_time_that_should_come_twice_and_comes_once_is_no_gap() -> None:
    local = hours(datetime(2024, 10, 27), 8)

    prepared = read(local, zone=BERLIN, on_gap="refuse")

    assert prepared.panel.observed.tolist() == [True] * 3 + [False] + [True] * 5
    (change,) = prepared.report.of_kind("clock_change")
    assert (change.count, change.first_stamp) == (1, "2024-10-27 02:00:00")


def test_stamps_at_a_local_time_that_does_not_exist_are_refused_by_name() -> None:
    with pytest.raises(WrongType, match=rf"1 local times that the clock of '{BERLIN}' skips, the first at {SKIPPED}"):
        read(hours(datetime(2024, 3, 30), 48), zone=BERLIN)


def test_a_zone_that_does_nothing_is_said() -> None:
    stamps = pl.Series(hours(datetime(2024, 1, 1), 3)).dt.replace_time_zone("UTC")

    (finding,) = read(stamps, zone=BERLIN).report.of_kind("unused_zone")

    assert "'Europe/Berlin' was given, but the stamps are in UTC" in str(finding)


def test_an_unknown_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="'Europe/Atlantis' is no time zone"):
        DataContract(zone="Europe/Atlantis")


@pytest.mark.parametrize("unit", ["ms", "us"])
@pytest.mark.parametrize("year", [1, 1600, 2263, 2999, 9999])
def test_a_stamp_far_out_of_time_is_refused_and_named(year: int, unit: str) -> None:
    stamps = pl.Series([*hours(datetime(2024, 1, 1), 50), datetime(year, 1, 1)]).cast(pl.Datetime(unit))

    with pytest.raises(DataError, match=f"not on the steps of .*, the first at {year:04}-01-01"):
        read(stamps)


def test_a_wrong_year_claims_no_memory() -> None:
    stamps = [*hours(datetime(2024, 1, 1), 50), datetime(2099, 1, 1)]

    with pytest.raises(DataError, match=r"times as many steps of 'h', the first at 2024-01-01.*wrong stamp"):
        read(stamps)


def test_instants_are_the_same_whatever_the_zone_they_are_written_in() -> None:
    utc = pl.Series(hours(datetime(2024, 3, 30, tzinfo=UTC), 48))

    written = [read(utc.dt.convert_time_zone(zone)).panel for zone in ("UTC", BERLIN, "Asia/Kolkata")]

    assert {tuple(panel.values) for panel in written} == {tuple(range(48))}
