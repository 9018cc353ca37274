"""Steps finer than a day on the local clock, while it is open: business hours, trading hours, or round the clock."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int64

from forecast.frames.calendar.base import Calendar, Origins
from forecast.frames.calendar.brackets import EVERY_DAY, LOCAL, OFFICE_HOURS, Hours, bracketed
from forecast.frames.calendar.instants import DAY, UNITS, Instants
from forecast.frames.calendar.work_days import STANDARD, WorkDays

TICK = 1000
"""Nanoseconds in a tick of this clock, a microsecond: places of any year then fit 64 bits."""


@dataclass(frozen=True)
class OpenHours(Calendar):
    """Every `span` nanoseconds of open time, whole microseconds, is one step; closed time passes at once."""

    span: int
    work: WorkDays = STANDARD
    hours: Hours = OFFICE_HOURS
    clock = "wall"

    @property
    def text(self) -> str:
        if self.work == STANDARD and self.hours == OFFICE_HOURS and self.span % UNITS["h"] == 0:
            count = self.span // UNITS["h"]
            return f"{'' if count == 1 else count}bh"
        return Instants(self.span).text + bracketed(self.work, hours=self.hours, weekdays=EVERY_DAY, empty=LOCAL)

    @property
    def season_length(self) -> int:
        """Steps in a day; 1 where they do not divide it."""
        return 1 if self._per_day * TICK % self.span else self._per_day * TICK // self.span

    def steps(self, places: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        opened, is_open = self._opened(places)
        self.work.check(places // (DAY // TICK))
        # Closed time is where the next opening is, and belongs to the step before it.
        return (opened - ~is_open - self._opened(origins.places)[0]) // (self.span // TICK)

    def places(self, steps: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        numbers, rest = np.divmod(self._opened(origins.places)[0] + steps * (self.span // TICK), self._per_day)
        part = np.searchsorted(self._before, rest, side="right") - 1
        return self.work.day(numbers) * (DAY // TICK) + self._first[part] + rest - self._before[part]

    def _opened(self, places: Int64[np.ndarray, " n"]) -> tuple[Int64[np.ndarray, " n"], Bool[np.ndarray, " n"]]:
        """Give the ticks that have been open before each place, and whether it is open."""
        days, ticks = np.divmod(places, DAY // TICK)
        part = np.searchsorted(self._first, ticks, side="right") - 1
        within = np.where(part < 0, 0, np.minimum(ticks - self._first[part], self._lengths[part]))
        today = np.where(part < 0, 0, self._before[part] + within)
        works = self.work.works(days)
        is_open = works & (part >= 0) & (within < self._lengths[part])
        return self.work.number(days) * self._per_day + np.where(works, today, self._per_day), is_open

    @cached_property
    def _first(self) -> Int64[np.ndarray, " part"]:
        return np.array([first // TICK for first, _ in self.hours], dtype=np.int64)

    @cached_property
    def _lengths(self) -> Int64[np.ndarray, " part"]:
        return np.array([(last - first) // TICK for first, last in self.hours], dtype=np.int64)

    @cached_property
    def _before(self) -> Int64[np.ndarray, " part"]:
        """Ticks that are open on a day before each part of it."""
        return np.cumsum(self._lengths) - self._lengths

    @cached_property
    def _per_day(self) -> int:
        return int(self._lengths.sum())
