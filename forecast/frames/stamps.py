"""The time column: integers, dates, datetimes with a zone or without, and ISO 8601 text; anything else is refused."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Int64

from forecast.errors import WrongType
from forecast.frames.column_type import ColumnType
from forecast.frames.report import Finding
from forecast.frames.text_time import TextFormat
from forecast.frames.time import StampType


@dataclass(frozen=True, eq=False)
class Stamps:
    """The moments of a time column, row for row."""

    moments: pl.Series
    """Int64, or Datetime with the zone in which days are counted; null where a stamp is missing or cannot be read."""

    stamp_type: StampType
    findings: tuple[Finding, ...]


def read_stamps(
    times: pl.Series, *, column: ColumnType, zone: str | None, series: Int64[np.ndarray, " row"]
) -> Stamps:
    """Read a time column; `zone` is the one in which stamps without a zone are local time, `series` numbers each row's.

    Raises:
        WrongType: the column holds no stamps, or text in which not one row is ISO 8601.
    """
    if times.dtype.is_integer():
        return Stamps(times.cast(pl.Int64), StampType(column, pl.Int64()), _unused(zone, "integers have no zone"))
    if times.dtype == pl.String:
        return _read_text(times, column=column, zone=zone, series=series)
    if times.dtype == pl.Date:
        return Stamps(times.cast(pl.Datetime("us")), StampType(column, pl.Datetime("us")), _unused(zone, "dates have none"))
    if isinstance(times.dtype, pl.Datetime):
        return _in_zone(times, column=column, zone=zone, series=series)
    raise WrongType(
        f"column {times.name!r} must hold datetimes, dates, ISO 8601 text or whole numbers, it holds {times.dtype} "
        f"(the first is {times.drop_nulls().first()!r}); convert it first",
        field=times.name,
    )


def _read_text(
    times: pl.Series, *, column: ColumnType, zone: str | None, series: Int64[np.ndarray, " row"]
) -> Stamps:
    spelling = TextFormat.of(str(times.drop_nulls().first()))
    read = None if spelling is None else spelling.read(times)
    if spelling is None or read is None:
        raise WrongType(
            f"column {times.name!r} holds text that is not ISO 8601 (the first is {times.drop_nulls().first()!r}); "
            f"write stamps like 2024-01-31 or 2024-01-31T18:00:00+01:00, or parse them to datetimes first",
            field=times.name,
        )
    if spelling.offset and zone:
        read = read.dt.convert_time_zone(zone)
    return _in_zone(read, column=column, zone=zone, series=series, text=spelling)


def _in_zone(
    times: pl.Series,
    *,
    column: ColumnType,
    zone: str | None,
    series: Int64[np.ndarray, " row"],
    text: TextFormat | None = None,
) -> Stamps:
    dtype = times.dtype
    assert isinstance(dtype, pl.Datetime)
    if dtype.time_zone or zone is None:
        other = zone if dtype.time_zone != zone else None
        return Stamps(times, StampType(column, dtype, text), _unused(other, f"the stamps are in {dtype.time_zone}"))
    moments = _localise(times, zone=zone, series=series)
    return Stamps(moments, StampType(column, moments.dtype, text, naive=True), _doubled(moments, times))


def _localise(times: pl.Series, *, zone: str, series: Int64[np.ndarray, " row"]) -> pl.Series:
    """Read local times in their zone; of an hour that comes twice, a series' second row is the second time."""
    earliest = times.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    latest = times.dt.replace_time_zone(zone, ambiguous="latest", non_existent="null")
    if not (earliest != latest).any():
        return earliest
    rows = pl.DataFrame({"series": series, "time": times, "earliest": earliest, "latest": latest})
    seen = pl.int_range(pl.len()).over("series", "time")
    return rows.select(pl.when(seen == 0).then("earliest").otherwise("latest"))["earliest"]


def _doubled(moments: pl.Series, times: pl.Series) -> tuple[Finding, ...]:
    count = int((moments.dt.replace_time_zone(None) != times).sum())
    del count
    return ()


def _unused(zone: str | None, why: str) -> tuple[Finding, ...]:
    if zone is None:
        return ()
    return (Finding("unused_zone", f"the zone {zone!r} was given, but {why}", "not used", count=1),)
