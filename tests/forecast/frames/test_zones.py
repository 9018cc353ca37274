"""Zones without a name: read with the local times they have, given back as they were."""

from datetime import datetime, timedelta, timezone
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import pytz

from forecast.errors import WrongType
from forecast.frames.answer import history_frame
from forecast.frames.contract import DataContract, Prepared, prepare

FIRST = "2024-01-30"
OFFSETS = ("+05:30", "-09:30", "+01:00", "-05:00", "+00:00", "+13:00", "+05:45")


def zone_of(offset: str) -> timezone:
    sign = -1 if offset[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(offset[1:3]), minutes=int(offset[4:])))


def pandas_stamps(zone: Any, *, freq: str = "D") -> pd.Series:
    return pd.Series(pd.date_range(FIRST, periods=4, freq=freq, tz=zone))


def given_back(frame: Any, prepared: Prepared, *, like: str) -> Any:
    return history_frame(prepared.panel, like=like, columns=prepared.columns)["ds"]


@pytest.mark.parametrize("offset", OFFSETS)
def test_pandas_days_at_an_offset_come_back_at_it(offset: str) -> None:
    minutes = int(zone_of(offset).utcoffset(None).total_seconds() // 60)
    for zone in (zone_of(offset), pytz.FixedOffset(minutes), f"UTC{offset}"):
        frame = pd.DataFrame({"ds": pandas_stamps(zone), "y": 1.0})

        prepared = prepare(frame)

        assert prepared.panel.axis.frequency.text == "D"
        assert given_back(frame, prepared, like="pandas").equals(frame["ds"])


@pytest.mark.parametrize("offset", OFFSETS)
def test_arrow_days_at_an_offset_come_back_at_it(offset: str) -> None:
    stamps = pa.array(pandas_stamps(zone_of(offset)).dt.tz_convert("UTC")).cast(pa.timestamp("us", tz=offset))
    frame = pa.table({"ds": stamps, "y": [1.0] * 4})

    prepared = prepare(frame)

    assert prepared.panel.axis.frequency.text == "D"
    assert given_back(frame, prepared, like="pyarrow").equals(frame["ds"])
    backed = pd.DataFrame({"ds": pd.Series(frame["ds"], dtype=pd.ArrowDtype(frame["ds"].type)), "y": 1.0})
    assert given_back(backed, prepare(backed), like="pandas").equals(backed["ds"])


def test_months_end_on_the_clock_of_the_offset() -> None:
    frame = pd.DataFrame({"ds": pandas_stamps(zone_of("+05:30"), freq="ME"), "y": 1.0})

    assert prepare(frame).panel.axis.frequency.text == "ME"


def test_an_offset_that_no_zone_had_is_refused_by_name() -> None:
    for offset, first in (("-03:30", FIRST), ("+05:30", "1943-01-01")):
        stamps = pd.Series(pd.date_range(first, periods=3, freq="D", tz=zone_of(offset)))
        with pytest.raises(WrongType, match=rf"column 'ds' has stamps at the offset \{offset} from UTC.*convert them"):
            prepare(pd.DataFrame({"ds": stamps, "y": 1.0}))


def test_a_zone_may_be_given_as_an_offset() -> None:
    frame = pl.DataFrame({"ds": [datetime(2024, 1, 1), datetime(2024, 1, 2)], "y": [1.0, 2.0]})

    prepared = prepare(frame, DataContract(zone="+05:30"))

    assert prepared.report.zone == "Asia/Kolkata"
    with pytest.raises(ValueError, match="no zone has the offset '-03:30' all year"):
        DataContract(zone="-03:30")
