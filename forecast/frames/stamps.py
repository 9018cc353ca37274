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


def read_stamps(times: pl.Series, *, column: ColumnType, zone: str | None, series: Int64[np.ndarray, " row"]) -> Stamps:
    """Read a time column; `zone` is the one in which stamps without a zone are local time, `series` numbers each row's.

    Raises:
        WrongType: the column holds no stamps, or text whose first is not ISO 8601.
    """
    if times.dtype.is_integer():
        moments = times.cast(pl.Int64, strict=False)
        return Stamps(moments, StampType(column, pl.Int64()), _unused(zone, "integers have no zone"))
    if times.dtype == pl.String:
        return _read_text(times, column=column, zone=zone, series=series)
    if times.dtype == pl.Date:
        dtype = pl.Datetime("us")
        return Stamps(times.cast(dtype), StampType(column, dtype), _unused(zone, "dates have none"))
    if isinstance(times.dtype, pl.Datetime):
        return _in_zone(times, column=column, zone=zone, series=series)
    raise WrongType(
        f"column {times.name!r} must hold datetimes, dates, ISO 8601 text or whole numbers, it holds {times.dtype} "
        f"(the first is {times.drop_nulls().first()!r}); convert it first",
        field=times.name,
    )


def _read_text(times: pl.Series, *, column: ColumnType, zone: str | None, series: Int64[np.ndarray, " row"]) -> Stamps:
    spelling = TextFormat.of(str(times.drop_nulls().first()))
    if spelling is None:
        raise WrongType(
            f"column {times.name!r} holds text that is not ISO 8601 (the first is {times.drop_nulls().first()!r}); "
            f"write stamps like 2024-01-31 or 2024-01-31T18:00:00+01:00, or parse them to datetimes first",
            field=times.name,
        )
    read = spelling.read(times)
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
    first = times.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    second = times.dt.replace_time_zone(zone, ambiguous="latest", non_existent="null")
    stamp_type = StampType(column, first.dtype, text, naive=True)
    if not (first != second).any():
        return Stamps(first, stamp_type, ())
    repeated = pl.DataFrame({"series": series, "time": times}).select(pl.int_range(pl.len()).over("series", "time") > 0)
    moments = second.zip_with(repeated.to_series(), first)
    return Stamps(moments, stamp_type, _second_passes(int((moments != first).sum()), column=times.name))


def _second_passes(count: int, *, column: str) -> tuple[Finding, ...]:
    if not count:
        return ()
    message = f"column {column!r} has {count:,} rows that repeat a local time in an hour that comes twice"
    return (Finding("clock_change", message, "read as its second pass", count=count, column=column),)


def _unused(zone: str | None, why: str) -> tuple[Finding, ...]:
    if zone is None:
        return ()
    return (Finding("unused_zone", f"the zone {zone!r} was given, but {why}", "not used", count=1),)
