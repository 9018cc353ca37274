"""Rows on the grid of a calendar: the step of each row, and whether its stamp is where the step should be."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Int64

from forecast.frames.calendar.base import Calendar, Origins
from forecast.frames.calendar.months import Months, month_end, month_of, month_start
from forecast.frames.clock import Places, stamps_at
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
    """Find the step of every row under a calendar; where rows disagree, the most of a series decide its grid."""
    found = rows.places(calendar.clock)
    grid = _grid(rows, found, calendar, _origins(rows, found, calendar))
    if grid.fits.all():
        return grid
    of_rows = grid.origins.take(rows.group)
    beside = found.places - calendar.places(grid.steps, origins=of_rows)
    usual = most_frequent(beside, rows.group, largest=False)[rows.group]
    first = np.where(beside == usual, found.places, np.iinfo(np.int64).max)
    return _grid(rows, found, calendar, replace(grid.origins, places=np.minimum.reduceat(first, rows.starts)))


def most_frequent(
    values: Int64[np.ndarray, " row"], group: Int64[np.ndarray, " row"], *, largest: bool
) -> Int64[np.ndarray, " group"]:
    """Give the most frequent value of each group; of those as frequent, the largest or the smallest."""
    order = np.lexsort((values, group))
    values, group = values[order], group[order]
    runs = np.flatnonzero(np.append(True, (np.diff(values) != 0) | (np.diff(group) != 0)))
    lengths = np.diff(np.append(runs, len(values)))
    values, group = values[runs], group[runs]
    ranked = np.lexsort((-values if largest else values, -lengths, group))
    first = np.flatnonzero(np.diff(group, prepend=-1))  # ranking keeps the groups together and in order
    return values[ranked[first]]


def _grid(rows: Rows, found: Places, calendar: Calendar, origins: Origins) -> Grid:
    of_rows = origins.take(rows.group)
    steps = calendar.steps(found.places, origins=of_rows)
    expected = Places(calendar.places(steps, origins=of_rows), of_rows.times_of_day)
    fits = (expected.places == found.places) & (expected.times_of_day == found.times_of_day)
    if calendar.clock in ("local", "wall") and not fits.all():
        # A local time that the clock skips is written past the gap; the step is still where it should be.
        moved = stamps_at(expected, clock=calendar.clock, dtype=rows.moments.dtype)
        fits |= (moved == rows.moments).to_numpy()
    return Grid(steps, fits, origins)


def _origins(rows: Rows, found: Places, calendar: Calendar) -> Origins:
    places = found.places[rows.starts]
    if calendar.clock in ("count", "instant"):
        zeros = np.zeros_like(places)
        return Origins(places, zeros, zeros)
    month_days = _month_days(rows, found.places) if isinstance(calendar, Months) else np.zeros_like(places)
    return Origins(places, _times_of_day(rows, found), month_days)


def _times_of_day(rows: Rows, found: Places) -> Int64[np.ndarray, " group"]:
    first = found.times_of_day[rows.starts]
    if (first[rows.group] == found.times_of_day).all():
        return first
    return most_frequent(found.times_of_day, rows.group, largest=False)


def _month_days(rows: Rows, days: Int64[np.ndarray, " row"]) -> Int64[np.ndarray, " group"]:
    """Give the day of the month of each series: the end where every stamp is one, else the most frequent day."""
    months = month_of(days)
    all_ends = np.logical_and.reduceat(days == month_end(months), rows.starts)
    # Of the 30th of January and the 28th of February the larger is meant, and the other what the month has room for.
    usual = most_frequent(days - month_start(months) + 1, rows.group, largest=True)
    return np.where(all_ends, END_OF_MONTH, usual)
