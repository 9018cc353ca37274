"""Rows on the grid of a calendar: the step of each row, and whether its stamp is where the step should be."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Bool, Int64

from forecast.frames.calendar.base import Calendar, Origins
from forecast.frames.calendar.months import month_end, month_of, month_start
from forecast.frames.clock import Places, places_of, stamps_at
from forecast.frames.rows import Rows

END_OF_MONTH = 31


@dataclass(frozen=True, eq=False)
class Grid:
    """Where the rows lie, counted from the first row of each series."""

    steps: Int64[np.ndarray, " row"]
    fits: Bool[np.ndarray, " row"]
    """True where the stamp is exactly the one of its step."""

    origins: Origins
    """One for each series that has rows, in the order of their numbers."""


def lay_out(rows: Rows, calendar: Calendar) -> Grid:
    """Find the step of every row under a calendar."""
    found = places_of(rows.moments, clock=calendar.clock)
    starts = rows.starts()
    group = np.cumsum(np.diff(rows.series, prepend=-1) != 0) - 1
    origins = _origins(found, starts, group, calendar)
    of_rows = origins.take(group)
    steps = calendar.steps(found.places, origins=of_rows)
    expected = calendar.places(steps, origins=of_rows)
    fits = (expected == found.places) & (of_rows.times_of_day == found.times_of_day)
    if calendar.clock == "local" and not fits.all():
        # A local time that the clock skips is written past the gap; the step is still where it should be.
        moved = stamps_at(expected, clock="local", origins=of_rows, dtype=rows.moments.dtype)
        fits |= (moved == rows.moments).to_numpy()
    return Grid(steps, fits, origins)


def _origins(
    found: Places, starts: Int64[np.ndarray, " group"], group: Int64[np.ndarray, " row"], calendar: Calendar
) -> Origins:
    places = found.places[starts]
    if calendar.clock != "local":
        zeros = np.zeros_like(places)
        return Origins(places, zeros, zeros)
    return Origins(places, _usual_times(found, starts, group), _month_days(found.places, starts))


def _usual_times(
    found: Places, starts: Int64[np.ndarray, " group"], group: Int64[np.ndarray, " row"]
) -> Int64[np.ndarray, " group"]:
    """Give the most frequent time of day of each series, so that one stray stamp does not make the others strays."""
    first = found.times_of_day[starts]
    if (first[group] == found.times_of_day).all():
        return first
    rows = pl.DataFrame({"group": group, "time": found.times_of_day})
    counts = rows.group_by("group", "time").len().sort("group", "len", "time", descending=[False, True, False])
    return counts.unique("group", keep="first", maintain_order=True)["time"].to_numpy()


def _month_days(days: Int64[np.ndarray, " row"], starts: Int64[np.ndarray, " group"]) -> Int64[np.ndarray, " group"]:
    """Give the day of the month of each series: the end where every stamp is one, else the latest day that occurs."""
    months = month_of(days)
    all_ends = np.logical_and.reduceat(days == month_end(months), starts)
    latest = np.maximum.reduceat(days - month_start(months) + 1, starts)
    return np.where(all_ends, END_OF_MONTH, latest)
