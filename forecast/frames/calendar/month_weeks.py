"""A weekday of each month: its first to fourth, or its last, as pandas' WOM and LWOM."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from forecast.frames.calendar.base import Calendar, Origins
from forecast.frames.calendar.days import WEEKDAYS, weekday
from forecast.frames.calendar.months import month_end, month_of, month_start

LAST = 0


@dataclass(frozen=True)
class MonthWeeks(Calendar):
    """Every `count` months is one step, on one weekday of the month."""

    count: int
    weekday: int
    """Monday 0."""

    week: int = LAST
    """Which of the month: 1 to 4, or the last."""
    clock = "local"

    @property
    def text(self) -> str:
        number, day = "" if self.count == 1 else self.count, WEEKDAYS[self.weekday]
        return f"{number}LWOM-{day}" if self.week == LAST else f"{number}WOM-{self.week}{day}"

    @property
    def season_length(self) -> int:
        """Steps in a year; 1 where they do not divide it."""
        return 1 if 12 % self.count else 12 // self.count

    def steps(self, places: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return (self._months(places) - self._months(origins.places)) // self.count

    def places(self, steps: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return self._days(self._months(origins.places) + steps * self.count)

    def _months(self, days: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
        """Number the month whose day is the last one not after each day."""
        months = month_of(days)
        return months - (self._days(months) > days)

    def _days(self, months: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
        if self.week == LAST:
            last = month_end(months)
            return last - (weekday(last) - self.weekday) % 7
        first = month_start(months)
        return first + (self.weekday - weekday(first)) % 7 + 7 * (self.week - 1)
