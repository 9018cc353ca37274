"""The frequency of a frame read from its stamps: all series vote, and the calendar that fits most rows wins."""

from collections.abc import Iterator
from itertools import chain

import numpy as np
import polars as pl
from jaxtyping import Int64

from forecast.frames.calendar.base import Calendar
from forecast.frames.calendar.brackets import ALL_DAY, EVERY_DAY
from forecast.frames.calendar.business import BusinessDays
from forecast.frames.calendar.days import Days, weekday
from forecast.frames.calendar.instants import DAY, UNITS, Instants
from forecast.frames.calendar.integers import Integers
from forecast.frames.calendar.month_weeks import LAST, MonthWeeks
from forecast.frames.calendar.months import Anchor, Months, month_end, month_of, month_start
from forecast.frames.calendar.open_hours import OpenHours
from forecast.frames.calendar.semi_months import SemiMonths
from forecast.frames.calendar.work_days import STANDARD, WorkDays
from forecast.frames.grid import lay_out
from forecast.frames.rows import Rows

HALF_DAY = DAY // 2  # a day in which the clock changes is longer, several stamps a day are closer
SHORTEST_MONTH = 28
LOCAL_HOURS = {hours * UNITS["h"] for hours in (2, 3, 4, 6, 8, 12)}
"""Spans that divide a day, and are longer than any change of the clock."""

EVERY_DAY_WORKED = WorkDays(EVERY_DAY)
ANCHORS: tuple[Anchor, ...] = ("start", "end", "business_start", "business_end")


def infer_calendar(rows: Rows) -> Calendar | None:
    """Read the calendar from the steps between stamps; None where no series has two different stamps."""
    candidates = _candidates(rows)
    first, second = next(candidates, None), next(candidates, None)
    if first is None or second is None:  # nothing to choose from
        return first
    best, most = first, -1
    for candidate in chain((first, second), candidates):
        fitting = int(lay_out(rows, candidate).fits.sum())
        if fitting == len(rows.series):  # no later one can fit better
            return candidate
        best, most = (candidate, fitting) if fitting > most else (best, most)
    return best


def _candidates(rows: Rows) -> Iterator[Calendar]:
    """Give what the most frequent step can be, the more telling first: of those that fit alike the first is taken."""
    if not isinstance(rows.moments.dtype, pl.Datetime):
        stride = _usual(rows, np.diff(rows.places("count").places))
        yield from [] if stride is None else [Integers(stride)]
        return
    local = rows.places("local")
    elapsed = _usual(rows, np.diff(local.places) * DAY + np.diff(local.times_of_day))
    if elapsed is None:
        return
    if elapsed > HALF_DAY and (count := _usual(rows, np.diff(local.places))) is not None:
        yield from _day_candidates(rows, local.places, count=count)
    # Days of another zone, in elapsed time, move on the clock of this one: they are tried where there is a zone.
    zoned = rows.moments.dtype.time_zone is not None
    if (elapsed % DAY or zoned) and (span := _usual(rows, np.diff(rows.places("instant").places))) is not None:
        yield Instants(span)
        if span in LOCAL_HOURS and zoned:
            yield OpenHours(span, EVERY_DAY_WORKED, ALL_DAY)


def _day_candidates(rows: Rows, days: Int64[np.ndarray, " row"], *, count: int) -> Iterator[Calendar]:
    if count >= SHORTEST_MONTH:
        yield from _month_candidates(rows, days)
    if count % 7 == 0 and len(anchors := np.unique(weekday(days))) == 1:
        yield Days(count, anchor=int(anchors[0]))
    if count == 1 and _skips_weekends(rows, days):
        yield BusinessDays(1)
    yield Days(count)
    if count % 7 and count > 1 and _skips_weekends(rows, days):
        stride = _usual(rows, np.diff(STANDARD.number(days)))
        yield from [] if stride is None else [BusinessDays(stride)]
    if count > 1:
        yield from _half_month_candidates(rows, days)
    if count >= SHORTEST_MONTH:
        yield from _month_week_candidates(rows, days)


def _half_month_candidates(rows: Rows, days: Int64[np.ndarray, " row"]) -> Iterator[Calendar]:
    months = month_of(days)
    of_month = days - month_start(months) + 1
    for anchor, edge in (("start", of_month == 1), ("end", days == month_end(months))):
        counts = np.bincount(of_month[~edge], minlength=2)
        middle = int(counts.argmax())
        if not edge.any() or not 2 <= middle <= 27 or 2 * (edge.sum() + counts[middle]) <= len(days):
            continue  # it is not worth a try
        stride = _usual(rows, np.diff(SemiMonths(1, anchor, middle=middle).halves(days)))
        yield from [] if stride is None else [SemiMonths(stride, anchor, middle=middle)]


def _month_week_candidates(rows: Rows, days: Int64[np.ndarray, " row"]) -> Iterator[Calendar]:
    months, day = month_of(days), np.unique(weekday(days))
    stride = _usual(rows, np.diff(months))
    if stride is None or len(day) > 1:
        return
    week = np.unique((days - month_start(months)) // 7 + 1)
    if len(week) == 1 and week[0] <= 4:
        yield MonthWeeks(stride, int(day[0]), week=int(week[0]))
    if (days + 7 > month_end(months)).all():
        yield MonthWeeks(stride, int(day[0]), week=LAST)


def _month_candidates(rows: Rows, days: Int64[np.ndarray, " row"]) -> Iterator[Calendar]:
    months = month_of(days)
    stride = _usual(rows, np.diff(months))
    if stride is None:
        return
    cycle = next(cycle for cycle in (12, 3, 1) if stride % cycle == 0)
    phases = np.unique(months % cycle)
    for anchor in ANCHORS:
        if cycle > 1 and len(phases) == 1:
            month = _named_month(int(phases[0]), cycle=cycle, anchor=anchor)
            yield Months(stride // cycle, anchor, cycle=cycle, month=month)
        else:
            yield Months(stride, anchor)
    yield Months(stride // cycle, "own", cycle=cycle)


def _named_month(phase: int, *, cycle: int, anchor: Anchor) -> int:
    """Name the month, 1 to 12, for which pandas calls a cycle: the first of the year that starts one, or the last."""
    return phase + 1 if anchor.endswith("start") else phase + 1 + 12 - cycle


def _skips_weekends(rows: Rows, days: Int64[np.ndarray, " row"]) -> bool:
    """Say whether no row is on a weekend although a series goes on after one; one week alone would not tell."""
    on_weekend = ~STANDARD.works(days)
    mondays = days - weekday(days)
    goes_on = (np.diff(rows.series) == 0) & (np.diff(mondays) > 0)
    return bool(goes_on.any() and not on_weekend.any())


def _usual(rows: Rows, distances: Int64[np.ndarray, " pair"]) -> int | None:
    """Give the most frequent distance between neighbours of a series, the smaller of two as frequent."""
    within = distances[(np.diff(rows.series) == 0) & (distances > 0)]
    values, counts = np.unique(within, return_counts=True)
    return int(values[np.argmax(counts)]) if len(values) else None
