"""Stamps as text: the pattern that reads them writes them, and text of no known pattern gets one suggested."""

from datetime import datetime
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from forecast.errors import WrongType
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract, prepare
from forecast.frames.text_time import TextFormat, suggested_patterns

PATTERNS = (
    *("%d/%m/%Y", "%m/%d/%Y", "%-d.%-m.%Y", "%Y%m%d", "%Y/%m/%d %H:%M", "%d-%b-%Y %H:%M:%S", "%Y %j", "%G-W%V-%u"),
    *("%b %d, %Y", "%m/%d/%Y %I:%M %p", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S %:z"),
)


def ahead(texts: list[str], pattern: str, **contract: object) -> list[str]:
    frame = pl.DataFrame({"ds": texts, "y": [float(row) for row in range(len(texts))]})
    axis = prepare(frame, DataContract(time_format=pattern, **contract)).panel.axis
    return axis.stamps(0, first=len(texts), count=1).to_list()


@pytest.mark.parametrize("pattern", PATTERNS)
@given(st.lists(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)), min_size=1, max_size=5))
def test_what_a_pattern_writes_it_reads(pattern: str, stamps: list[datetime]) -> None:
    known = DataContract(time_format=pattern).time_format
    assert known == pattern
    moments = pl.Series(stamps, dtype=pl.Datetime("us"))
    spelling = TextFormat(pattern, "")
    texts = spelling.write(moments.dt.replace_time_zone("UTC") if spelling.has_offset else moments)

    read = TextFormat.given(pattern, texts=texts)

    assert read.read(texts).null_count() == 0
    assert read.write(read.read(texts)).equals(texts)


@pytest.mark.parametrize(
    ("texts", "pattern", "expected"),
    [
        (["30/01/2019", "31/01/2019"], "%d/%m/%Y", "01/02/2019"),
        (["8/1/2019", "9/1/2019"], "%d/%m/%Y", "10/1/2019"),
        (["1/8/2019 9:00", "1/8/2019 10:00"], "%m/%d/%Y %H:%M", "1/8/2019 11:00"),
        (["01/08/2019 8:00 AM", "01/08/2019 9:00 AM"], "%m/%d/%Y %I:%M %p", "01/08/2019 10:00 AM"),
        (["Nov 2019", "Dec 2019"], "%b %Y", "Jan 2020"),
        (["2019-11", "2019-12"], "%Y-%m", "2020-01"),
        (["2019", "2020"], "%Y", "2021"),
        (["20191230", "20191231"], "%Y%m%d", "20200101"),
        (
            ["2019-12-31 22:00:00.250000", "2019-12-31 22:00:00.500000"],
            "%Y-%m-%d %H:%M:%S.%f",
            "2019-12-31 22:00:00.750000",
        ),
    ],
)
def test_answers_are_written_as_the_stamps_are(texts: list[str], pattern: str, expected: str) -> None:
    assert ahead(texts, pattern) == [expected]


def test_text_with_an_offset_is_answered_in_the_zone_of_the_contract() -> None:
    texts = ["31/03/2024 00:00+0100", "31/03/2024 01:00+0100"]

    assert ahead(texts, "%d/%m/%Y %H:%M%z", zone="Europe/Berlin") == ["31/03/2024 03:00+0200"]


def test_a_pattern_reads_local_times_of_the_contracts_zone() -> None:
    texts = ["31/03/2024 00:00", "31/03/2024 01:00"]

    assert ahead(texts, "%d/%m/%Y %H:%M", zone="Europe/Berlin") == ["31/03/2024 03:00"]


@pytest.mark.parametrize(
    ("texts", "patterns"),
    [
        (["02/01/2019", "13/01/2019", None], ["%d/%m/%Y"]),
        (["02/01/2019", "03/01/2019"], ["%d/%m/%Y", "%m/%d/%Y"]),
        (["1/13/2019 5:00 PM"], ["%m/%d/%Y %I:%M %p"]),
        (["20190102"], ["%Y%m%d"]),
        (["Jan 2019"], ["%b %Y"]),
        (["01.02.19"], ["%d.%m.%y"]),
        (["2019"], ["%Y"]),
        (["02/01/2019", "2019-01-03"], []),
        (["yesterday"], []),
    ],
)
def test_usual_patterns_are_suggested_where_every_text_fits(texts: list[str], patterns: list[str]) -> None:
    assert suggested_patterns(pl.Series(texts)) == patterns


@pytest.mark.parametrize(
    ("texts", "fix"),
    [
        (["02/01/2019", "13/01/2019"], "give its time_format: '%d/%m/%Y', or write stamps like"),
        (["02/01/2019", "03/01/2019"], "time_format: '%d/%m/%Y' or '%m/%d/%Y', whichever is meant, or"),
        (["yesterday"], "give its time_format: a pattern like %d/%m/%Y, or write"),
    ],
)
def test_text_that_is_not_iso_is_refused_with_the_pattern_to_give(texts: list[str], fix: str) -> None:
    with pytest.raises(
        WrongType, match=rf"column 'ds' holds text that is not ISO 8601 \(the first is '{texts[0]}'\)"
    ) as found:
        prepare(pl.DataFrame({"ds": texts, "y": 1.0}))

    assert fix in str(found.value)


def test_text_that_the_pattern_does_not_fit_is_refused_by_its_first_offender() -> None:
    with pytest.raises(WrongType, match="1 stamps not written like '%d/%m/%Y', the first at 2019-01-31"):
        ahead(["30/01/2019", "2019-01-31"], "%d/%m/%Y")


@pytest.mark.parametrize(
    "pattern", ["", "dd/mm/yyyy", "%d/%m", "%Y-%m-%d %H", "%H:%M", "%Q", "%d/%m/%Y %Z", "%Y%m%d%f"]
)
def test_a_pattern_that_does_not_say_how_stamps_are_written_is_refused(pattern: str) -> None:
    with pytest.raises(ValidationError, match="does not say how stamps are written"):
        DataContract(time_format=pattern)


def test_a_pattern_for_stamps_that_are_no_text_is_said_to_be_unused() -> None:
    frame = pl.DataFrame({"ds": [1, 2], "y": [1.0, 2.0]})

    (finding,) = prepare(frame, DataContract(time_format="%d/%m/%Y")).report.of_kind("unused_format")

    assert "'%d/%m/%Y' was given, but column 'ds' holds Int64 and no text: not used" in str(finding)


@pytest.mark.parametrize("read", [pl.read_csv, pd.read_csv])
def test_flights_of_days_written_the_british_way(data_dir: Path, read) -> None:
    frame = read(data_dir / "open" / "uk_daily_flights.csv")
    columns = Columns(target="Number of flights")

    with pytest.raises(WrongType, match="give its time_format: '%d/%m/%Y', or"):
        prepare(frame, DataContract(columns=columns))
    prepared = prepare(frame, DataContract(columns=columns, time_format="%d/%m/%Y"))

    assert prepared.panel.lengths.tolist() == [1118]
    assert prepared.panel.axis.frequency.text == "D"
    assert prepared.panel.axis.stamps(0, first=0, count=1118).to_list() == list(frame["Date"])
    assert prepared.panel.axis.stamps(0, first=1118, count=1).to_list() == ["24/01/2022"]
