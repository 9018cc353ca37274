"""Zones that have an offset and no name: each gets a name that polars knows, with the same clock."""

import re
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

from narwhals import dependencies as native

from forecast.errors import WrongType

HOUR = timedelta(hours=1)

NAMES = {
    -9.5: "Pacific/Marquesas",
    3.5: "Asia/Tehran",
    4.5: "Asia/Kabul",
    5.5: "Asia/Kolkata",
    5.75: "Asia/Kathmandu",
    6.5: "Asia/Yangon",
    8.75: "Australia/Eucla",
    9.5: "Australia/Darwin",
}
"""Zones whose clocks stand so many hours from UTC, and are not changed any more; whether they were, the data tell."""

OFFSET = re.compile(r"(?:UTC)?(?P<sign>[+-])(?P<hours>\d{2}):(?P<minutes>\d{2})")


def known_zone(zone: str) -> str:
    """Give the name of a zone, also of one written as an offset, `+05:30`.

    Raises:
        ValueError: no zone has this name, or this offset all year.
    """
    offset = _offset(zone)
    name = zone if offset is None else _name_of(offset)
    if name is None:
        raise ValueError(f"no zone has the offset {zone!r} all year; write a name like 'Europe/Berlin', or 'UTC'")
    try:
        return ZoneInfo(name).key
    except (KeyError, ValueError, OSError):  # zoneinfo looks names up as files, and fails as files do
        raise ValueError(f"{zone!r} is no time zone; write it as 'Europe/Berlin' or 'UTC'") from None


def with_named_zone(column: Any, *, name: str) -> Any:
    """Give a column of pandas or pyarrow in a zone that has a name, the same instants and local times; others as is.

    Raises:
        WrongType: no zone has these local times.
    """
    offset = _offset_of(column)
    if offset is None:
        return column
    zone = _name_of(offset)
    converted = column if zone is None else _in_zone(column, zone)
    if zone is None or not _same_local_times(column, converted):
        raise WrongType(
            f"column {name!r} has stamps at the offset {_written(offset)} from UTC, which no named zone had at all of "
            f"them; convert them to UTC or to the zone they are local to",
            field=name,
        )
    return converted


def _offset_of(column: Any) -> timedelta | None:
    """Give the offset of a column whose zone has one and no name."""
    if not native.is_pandas_series(column):
        return _offset(getattr(column.type, "tz", None) or "")
    if type(column.dtype).__name__ == "ArrowDtype":
        return _offset(getattr(column.dtype.pyarrow_dtype, "tz", None) or "")
    zone = getattr(column.dtype, "tz", None)
    named = getattr(zone, "key", None) or getattr(zone, "zone", None)
    return None if zone is None or named else zone.utcoffset(None)


def _offset(text: str) -> timedelta | None:
    found = OFFSET.fullmatch(text)
    if found is None:
        return None
    distance = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
    return distance if found["sign"] == "+" else -distance


def _name_of(offset: timedelta) -> str | None:
    hours = offset / HOUR
    if hours == 0:
        return "UTC"
    if hours % 1 == 0 and -12 <= hours <= 14:
        return f"Etc/GMT{-int(hours):+d}"  # these names count westwards
    return NAMES.get(hours)


def _in_zone(column: Any, zone: str) -> Any:
    if native.is_pandas_series(column):
        return column.dt.tz_convert(zone)
    import pyarrow

    return column.cast(pyarrow.timestamp(column.type.unit, tz=zone))


def _same_local_times(one: Any, other: Any) -> bool:
    if native.is_pandas_series(one):
        return bool((one.dt.tz_localize(None) == other.dt.tz_localize(None))[one.notna()].all())
    from pyarrow.compute import call_function

    return call_function("local_timestamp", [one]).equals(call_function("local_timestamp", [other]))


def _written(offset: timedelta) -> str:
    hours, minutes = divmod(round(abs(offset).total_seconds() / 60), 60)
    return f"{'-' if offset < timedelta(0) else '+'}{hours:02}:{minutes:02}"
