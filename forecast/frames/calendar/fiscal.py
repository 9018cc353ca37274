"""Fiscal years of 52 or 53 weeks and their quarters, as pandas' RE and REQ."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int64

from forecast.frames.calendar.base import Calendar, Origins
from forecast.frames.calendar.days import WEEKDAYS, weekday
from forecast.frames.calendar.months import MONTHS, month_end, month_of

QUARTER = 13 * 7
"""Days in a quarter, but for the one that has the extra week."""


@dataclass(frozen=True)
class FiscalYear:
    """A year that ends on a weekday: the last of a month, or the one nearest to the month's end."""

    ends: Literal["N", "L"]
    """pandas' letters: nearest, or last."""

    month: int
    """1 to 12."""

    weekday: int
    """Monday 0."""

    @property
    def text(self) -> str:
        """As pandas writes it."""
        return f"{self.ends}-{MONTHS[self.month - 1]}-{WEEKDAYS[self.weekday]}"

    def end(self, years: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
        """Give the last day of each fiscal year, named for the calendar year in which its month lies."""
        last = month_end((years - 1970) * 12 + self.month - 1)
        before = (weekday(last) - self.weekday) % 7
        return last - before + np.where((before > 3) & (self.ends == "N"), 7, 0)

    def ended(self, days: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
        """Give the newest fiscal year that has ended on each day or before it."""
        year = month_of(days) // 12 + 1970
        return year - 1 + (self.end(year) <= days) - (self.end(year - 1) > days)


@dataclass(frozen=True)
class FiscalYears(Calendar):
    """Every `count` fiscal years is one step, on their last day."""

    count: int
    year: FiscalYear
    clock = "local"

    @property
    def text(self) -> str:
        return f"{'' if self.count == 1 else self.count}RE-{self.year.text}"

    @property
    def season_length(self) -> int:
        return 1

    def steps(self, places: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return (self.year.ended(places) - self.year.ended(origins.places)) // self.count

    def places(self, steps: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return self.year.end(self.year.ended(origins.places) + steps * self.count)


@dataclass(frozen=True)
class FiscalQuarters(Calendar):
    """Every `count` quarters of a fiscal year is one step, on their last day."""

    count: int
    year: FiscalYear
    long_quarter: int
    """The quarter, 1 to 4, that has 14 weeks where the year has 53."""
    clock = "local"

    @property
    def text(self) -> str:
        return f"{'' if self.count == 1 else self.count}REQ-{self.year.text}-{self.long_quarter}"

    @property
    def season_length(self) -> int:
        """Steps in a year; 1 where they do not divide it."""
        return 1 if 4 % self.count else 4 // self.count

    def steps(self, places: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return (self._ended(places) - self._ended(origins.places)) // self.count

    def places(self, steps: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return self._end(self._ended(origins.places) + steps * self.count)

    def _ended(self, days: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
        """Number the newest quarter that has ended on each day or before it: four times its year's, and one each."""
        first = 4 * self.year.ended(days)
        return first + sum((self._end(first + quarter) <= days).astype(np.int64) for quarter in (1, 2, 3))

    def _end(self, quarters: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
        years, rest = np.divmod(quarters, 4)
        last = self.year.end(years)
        weeks = (self.year.end(years + 1) - last) // 7
        return last + rest * QUARTER + np.where((weeks == 53) & (rest >= self.long_quarter), 7, 0)
