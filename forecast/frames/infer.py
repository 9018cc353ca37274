"""The frequency of a frame read from its stamps: all series vote, and the calendar that fits most rows wins."""

from collections.abc import Iterator

import numpy as np
import polars as pl
from jaxtyping import Int64

from forecast.frames.calendar.base import Calendar
from forecast.frames.calendar.business import BusinessDays
from forecast.frames.calendar.days import Days, weekday
from forecast.frames.calendar.instants import DAY, Instants
from forecast.frames.calendar.integers import Integers
from forecast.frames.calendar.months import Anchor, Months, month_of
from forecast.frames.clock import places_of
from forecast.frames.grid import lay_out
from forecast.frames.rows import Rows

SHORTEST_MONTH = 28
CYCLE_ANCHORS: tuple[Anchor, ...] = ("start", "end", "business_start", "business_end")


def infer_calendar(rows: Rows) -> Calendar | None:
    """Read the calendar from the steps between stamps; None where no series has two different stamps."""
    candidates = list(_candidates(rows))
    fitting = [int(lay_out(rows, candidate).fits.sum()) for candidate in candidates]
    return candidates[int(np.argmax(fitting))] if candidates else None


def _candidates(rows: Rows) -> Iterator[Calendar]:
    """Give what the most frequent step can be, the more telling first: of calendars that fit alike the first is taken."""
    if not isinstance(rows.moments.dtype, pl.Datetime):
        stride = _usual(places_of(rows.moments, clock="count").places, rows.series)
        return iter([] if stride is None else [Integers(stride)])
    local = places_of(rows.moments, clock="local")
    elapsed = _usual(local.places * DAY + local.times_of_day, rows.series)
    if elapsed is None:
        return iter([])
    if elapsed % DAY:
        span = _usual(places_of(rows.moments, clock="instant").places, rows.series)
        return iter([] if span is None else [Instants(span)])
    return _day_candidates(local.places, rows.series, count=elapsed // DAY)


def _day_candidates(
    days: Int64[np.ndarray, " row"], series: Int64[np.ndarray, " row"], *, count: int
) -> Iterator[Calendar]:
    if count >= SHORTEST_MONTH:
        yield from _month_candidates(days, series)
    weekdays = weekday(days)
    if count % 7 == 0 and (weekdays == weekdays[0]).all():
        yield Days(count, anchor=int(weekdays[0]))
    if count == 1 and weekdays.max() < 5 and _crosses_weekend(days, series):
        yield BusinessDays(1)
    yield Days(count)


def _month_candidates(days: Int64[np.ndarray, " row"], series: Int64[np.ndarray, " row"]) -> Iterator[Calendar]:
    months = month_of(days)
    stride = _usual(months, series)
    if stride is None:
        return
    cycle = next(cycle for cycle in (12, 3, 1) if stride % cycle == 0)
    phases = months % cycle
    for anchor in CYCLE_ANCHORS:
        if (phases == phases[0]).all():
            month = None if cycle == 1 else _named_month(int(phases[0]), cycle=cycle, anchor=anchor)
            yield Months(stride // cycle, anchor, cycle=cycle, month=month)
        else:
            yield Months(stride, anchor)
    yield Months(stride // cycle, "own", cycle=cycle)


def _named_month(phase: int, *, cycle: int, anchor: Anchor) -> int:
    """Name the first month of the year that starts a cycle of this phase, or the last that ends one."""
    if anchor in ("start", "business_start"):
        return phase + 1
    return phase + 1 + 12 - cycle


def _crosses_weekend(days: Int64[np.ndarray, " row"], series: Int64[np.ndarray, " row"]) -> bool:
    """Say whether any series goes on after a weekend; one week alone does not tell business days from days."""
    weeks = (days - 4) // 7
    return bool(((np.diff(series) == 0) & (np.diff(weeks) > 0)).any())


def _usual(places: Int64[np.ndarray, " row"], series: Int64[np.ndarray, " row"]) -> int | None:
    """Give the most frequent distance between neighbours of a series, the smaller of two as frequent."""
    distances = np.diff(places)[np.diff(series) == 0]
    values, counts = np.unique(distances[distances > 0], return_counts=True)
    return int(values[np.argmax(counts)]) if len(values) else None
