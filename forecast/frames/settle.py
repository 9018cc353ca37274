"""The frequency of a frame settled: the one given where it agrees with the stamps, else the one read from them."""

import polars as pl

from forecast.errors import FrequencyError
from forecast.frames.calendar.base import Calendar
from forecast.frames.frequency import Frequency
from forecast.frames.grid import Grid, lay_out
from forecast.frames.infer import infer_calendar
from forecast.frames.rows import Rows, stamp_text
from forecast.frames.time import StampType


def settle_frequency(rows: Rows, given: str | int | None, *, stamp_type: StampType) -> tuple[Frequency, Grid]:
    """Give the frequency and the rows laid out on it; single stray rows are left for the caller to judge.

    Raises:
        FrequencyError: none is given and no series has two stamps; or the stamps contradict the one given.
    """
    frequency = _read(rows) if given is None else Frequency.parse(given)
    check_clock(frequency.calendar, stamp_type)
    grid = lay_out(rows, frequency.calendar)
    if given is not None and not grid.fits.all():
        _check_agreement(rows, frequency, grid)
    return frequency, grid


def _read(rows: Rows) -> Frequency:
    calendar = infer_calendar(rows)
    if calendar is None:
        raise FrequencyError(
            "the frequency cannot be read: no series has two different stamps; give it, for example frequency='h'",
            field="frequency",
        )
    return Frequency(calendar)


def check_clock(calendar: Calendar, stamp_type: StampType) -> None:
    """Refuse steps of dates for integer time, steps of integers for dates, and steps finer than the stamps can tell.

    Raises:
        FrequencyError: says which steps would do.
    """
    counts = stamp_type.dtype == pl.Int64
    if counts != (calendar.clock == "count"):
        wanted = "a whole number" if counts else "a calendar's, for example 'h' or 'D'"
        kind = "integers" if counts else "dates or datetimes"
        raise FrequencyError(
            f"the stamps are {kind}, so the frequency must be {wanted}, got {calendar.text!r}", field="frequency"
        )
    if stamp_type.column.dtype == pl.Date and calendar.clock in ("instant", "wall"):
        raise FrequencyError(
            f"the stamps are dates, so the frequency cannot be finer than 'D', got {calendar.text!r}; "
            f"give 'D' or coarser, or stamps with a time of day",
            field="frequency",
        )


def _check_agreement(rows: Rows, given: Frequency, grid: Grid) -> None:
    """Refuse a frequency that fits fewer rows than the one that the stamps themselves tell."""
    stray = int((~grid.fits).sum())
    found = infer_calendar(rows)
    if found is not None and int((~lay_out(rows, found).fits).sum()) < stray:
        first = stamp_text(rows.moments[int((~grid.fits).argmax())])
        raise FrequencyError(
            f"frequency {given.text!r} contradicts the stamps: {stray:,} of {len(grid.steps):,} rows are not on its "
            f"steps, the first at {first}; they step by {found.text!r}, give that or nothing, or set "
            f"on_irregular='nearest' to move them",
            field="frequency",
        )
