"""Stamps to places on a clock and back, in the zone where days are counted."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Int64

from forecast.errors import FrequencyError
from forecast.frames.calendar.base import Clock
from forecast.frames.calendar.instants import SECOND

PER_SECOND = {"ms": 1_000, "us": 1_000_000, "ns": SECOND}
"""Ticks of each time unit in a second."""

DAY_MICROS = 86_400 * 1_000_000
"""Microseconds in a day of the wall's clock."""

LAST = np.iinfo(np.int64).max
"""The last nanosecond that 64 bits hold, in the year 2262: no whole microsecond."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where stamps lie on a clock: its whole numbers, and nanoseconds after them where it is coarse."""

    places: Int64[np.ndarray, " n"]
    times_of_day: Int64[np.ndarray, " n"]


def places_of(stamps: pl.Series, *, clock: Clock) -> Places:
    """Give the place of each stamp; `stamps` are Int64, or Datetime of any unit and zone, without nulls."""
    if clock == "local":
        return _local(stamps)
    if clock == "wall":
        return _wall(_local(stamps))
    places = _ticks(stamps) if clock == "count" else _nanoseconds(stamps)
    return Places(places, np.zeros(len(stamps), dtype=np.int64))


def stamps_at(places: Places, *, clock: Clock, dtype: pl.DataType) -> pl.Series:
    """Give the stamps at places on a clock, as `dtype`: Int64 or a Datetime.

    A local time that the zone's clock skips is moved past the gap; of one that comes twice, the first is meant.
    """
    if not isinstance(dtype, pl.Datetime):
        return pl.Series(places.places)
    unit = PER_SECOND[dtype.time_unit]
    naive = pl.Datetime(dtype.time_unit)
    if clock == "instant":
        stamps = pl.Series(places.places // (SECOND // unit)).cast(naive)
        return stamps if dtype.time_zone is None else _from_utc(stamps, zone=dtype.time_zone)
    if clock == "wall":
        days, micros = np.divmod(places.places, DAY_MICROS)
        places = Places(days, micros * 1000 + places.times_of_day)
    _check_reach(places, ticks_per_day=86_400 * unit)
    ticks = places.places * (86_400 * unit) + places.times_of_day // (SECOND // unit)
    return to_instants(pl.Series(ticks).cast(naive), zone=dtype.time_zone)


def to_instants(local: pl.Series, *, zone: str | None) -> pl.Series:
    """Read naive local datetimes in a zone, moving those that its clock skips past the gap."""
    if zone is None:
        return local
    exact = local.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    if exact.null_count() == local.null_count():
        return exact
    # The offset of the day before leads a skipped reading as far past the gap as it stands in it.
    day_before = local.dt.offset_by("-1d").dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    return exact.fill_null(_from_utc(day_before.dt.convert_time_zone("UTC").dt.offset_by("1d"), zone=zone))


def _check_reach(places: Places, *, ticks_per_day: int) -> None:
    furthest = int(np.abs(places.places).max(initial=0))
    if (furthest + 1) * ticks_per_day > LAST:
        raise FrequencyError(
            f"stamps {furthest:,} days from 1970 are beyond what the time unit of the frame can hold; "
            f"ask for a shorter horizon, or send stamps in a coarser unit than nanoseconds",
            field="frequency",
        )


def _from_utc(stamps: pl.Series, *, zone: str) -> pl.Series:
    return stamps.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def _local(stamps: pl.Series) -> Places:
    dtype = stamps.dtype
    assert isinstance(dtype, pl.Datetime)
    unit = PER_SECOND[dtype.time_unit]
    wall = stamps if dtype.time_zone is None else stamps.dt.replace_time_zone(None)
    days, ticks = np.divmod(_ticks(wall), 86_400 * unit)
    return Places(days, ticks * (SECOND // unit))


def _wall(local: Places) -> Places:
    micros, nanoseconds = np.divmod(local.times_of_day, 1000)
    return Places(local.places * DAY_MICROS + micros, nanoseconds)


def _nanoseconds(stamps: pl.Series) -> Int64[np.ndarray, " n"]:
    assert isinstance(stamps.dtype, pl.Datetime)
    scale = SECOND // PER_SECOND[stamps.dtype.time_unit]
    ticks = _ticks(stamps)
    # What lies beyond 1678 to 2262 goes where no stamp can be, so that it is found off the steps of its series.
    return np.where(np.abs(ticks) > LAST // scale, LAST, ticks * scale)


def _ticks(stamps: pl.Series) -> Int64[np.ndarray, " n"]:
    return stamps.to_physical().to_numpy()
