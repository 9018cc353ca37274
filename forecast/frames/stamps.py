"""The time column: integers, dates, datetimes with a zone or without, and text; anything else is refused by name."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from jaxtyping import Int64

from forecast.errors import WrongType
from forecast.frames.column_type import ColumnType
from forecast.frames.report import Finding
from forecast.frames.text_time import TextFormat, suggested_patterns
from forecast.frames.time import StampType


@dataclass(frozen=True, eq=False)
class Stamps:
    """The moments of a time column, row for row."""

    moments: pl.Series
    """Int64, or Datetime with the zone in which days are counted; null where a stamp is missing or cannot be read."""

    stamp_type: StampType
    findings: tuple[Finding, ...]


def read_stamps(
    times: pl.Series,
    *,
    column: ColumnType,
    zone: str | None,
    series: Int64[np.ndarray, " row"],
    time_format: str | None = None,
) -> Stamps:
    """Read a time column.

    `zone` is the one in which stamps without a zone are local time, `series` numbers each row's, and `time_format` is
    the pattern of text that is not ISO 8601.

    Raises:
        WrongType: the column holds no stamps, or text whose first is not ISO 8601 where there is no `time_format`.
    """
    if times.dtype == pl.String:
        return _read_text(times, column=column, zone=zone, series=series, time_format=time_format)
    read = _read_typed(times, column=column, zone=zone, series=series)
    return replace(read, findings=(*read.findings, *_unused_format(time_format, times)))


def _read_typed(times: pl.Series, *, column: ColumnType, zone: str | None, series: Int64[np.ndarray, " row"]) -> Stamps:
    if times.dtype.is_integer():
        moments = times.cast(pl.Int64, strict=False)
        return Stamps(moments, StampType(column, pl.Int64()), _unused(zone, "integers have no zone"))
    if times.dtype == pl.Date:
        dtype = pl.Datetime("us")
        return Stamps(times.cast(dtype), StampType(column, dtype), _unused(zone, "dates have none"))
    if isinstance(times.dtype, pl.Datetime):
        return _in_zone(times, column=column, zone=zone, series=series)
    whole = times.dtype.is_float() and (times.drop_nulls() % 1 == 0).all()
    raise WrongType(
        f"column {times.name!r} must hold datetimes, dates, text or whole numbers, it holds {times.dtype} (the first "
        f"is {times.drop_nulls().first()!r}); {'cast its whole numbers to integers' if whole else 'convert it first'}",
        field=times.name,
    )


def _read_text(
    times: pl.Series,
    *,
    column: ColumnType,
    zone: str | None,
    series: Int64[np.ndarray, " row"],
    time_format: str | None,
) -> Stamps:
    spelling = _spelling(times, time_format)
    read = spelling.read(times)
    if spelling.has_offset and zone:
        read = read.dt.convert_time_zone(zone)
    return _in_zone(read, column=column, zone=zone, series=series, text=spelling)


def _spelling(times: pl.Series, time_format: str | None) -> TextFormat:
    if time_format is not None:
        return TextFormat.given(time_format, texts=times)
    first = times.drop_nulls().first()
    spelling = TextFormat.of(str(first))
    if spelling is None:
        patterns = suggested_patterns(times)
        meant = f"{' or '.join(map(repr, patterns))}{', whichever is meant' if len(patterns) > 1 else ''}"
        raise WrongType(
            f"column {times.name!r} holds text that is not ISO 8601 (the first is {first!r}); give its time_format: "
            f"{meant or 'a pattern like %d/%m/%Y'}, or write stamps like 2024-01-31 or 2024-01-31T18:00:00+01:00",
            field=times.name,
        )
    return spelling


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


def _unused_format(time_format: str | None, times: pl.Series) -> tuple[Finding, ...]:
    if time_format is None:
        return ()
    message = f"the time_format {time_format!r} was given, but column {times.name!r} holds {times.dtype} and no text"
    return (Finding("unused_format", message, "not used", count=1, column=times.name),)
