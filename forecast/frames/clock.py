"""Stamps to places on a clock and back, in the zone where days are counted."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Int64

from forecast.frames.calendar.base import Clock, Origins
from forecast.frames.calendar.instants import SECOND

PER_SECOND = {"ms": 1_000, "us": 1_000_000, "ns": SECOND}
"""Ticks of each time unit in a second."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where stamps lie on a clock: its whole numbers, and nanoseconds after midnight where it counts days."""

    places: Int64[np.ndarray, " n"]
    times_of_day: Int64[np.ndarray, " n"]


def places_of(stamps: pl.Series, *, clock: Clock) -> Places:
    """Give the place of each stamp; `stamps` are integers or datetimes of any unit, with a zone or without, no nulls."""
    if clock == "local":
        return _local(stamps)
    places = stamps.cast(pl.Int64) if clock == "count" else _nanoseconds(stamps)
    return Places(_array(places), np.zeros(len(stamps), dtype=np.int64))


def stamps_at(places: Int64[np.ndarray, " n"], *, clock: Clock, origins: Origins, dtype: pl.DataType) -> pl.Series:
    """Give the stamps at places on a clock, as `dtype`: Int64 or a Datetime.

    A local time that the zone's clock skips is moved past the gap; of one that comes twice, the first is meant.
    """
    if clock == "count" or not isinstance(dtype, pl.Datetime):
        return pl.Series(places)
    unit = PER_SECOND[dtype.time_unit]
    if clock == "instant":
        ticks = places // (SECOND // unit)
        stamps = pl.Series(ticks).cast(pl.Datetime(dtype.time_unit))
        return stamps if dtype.time_zone is None else stamps.dt.replace_time_zone("UTC").dt.convert_time_zone(dtype.time_zone)
    ticks = places * (86_400 * unit) + origins.times_of_day // (SECOND // unit)
    return to_instants(pl.Series(ticks).cast(pl.Datetime(dtype.time_unit)), zone=dtype.time_zone)


def to_instants(local: pl.Series, *, zone: str | None) -> pl.Series:
    """Read naive local datetimes in a zone, moving those that its clock skips past the gap."""
    if zone is None:
        return local
    exact = local.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    if exact.null_count() == local.null_count():
        return exact
    # The clock has gone forward: with the offset of the day before, the reading lies as far behind the gap as it was in it.
    before = local.dt.offset_by("-1d").dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    return exact.fill_null(before.dt.convert_time_zone("UTC").dt.offset_by("1d").dt.convert_time_zone(zone))


def _local(stamps: pl.Series) -> Places:
    wall = stamps.dt.replace_time_zone(None)
    unit = PER_SECOND[wall.dtype.time_unit]
    days, ticks = np.divmod(_array(wall.cast(pl.Int64)), 86_400 * unit)
    return Places(days, ticks * (SECOND // unit))


def _nanoseconds(stamps: pl.Series) -> pl.Series:
    return stamps.cast(pl.Int64) * (SECOND // PER_SECOND[stamps.dtype.time_unit])


def _array(values: pl.Series) -> Int64[np.ndarray, " n"]:
    return values.to_numpy().astype(np.int64, copy=False)
