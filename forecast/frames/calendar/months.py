"""Months, quarters and years: steps on a month's first or last (business) day, or on a series' own day of the month."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int64

from forecast.frames.calendar.base import Calendar, Origins
from forecast.frames.calendar.brackets import bracketed
from forecast.frames.calendar.work_days import STANDARD, WorkDays

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")

Anchor = Literal["own", "start", "end", "business_start", "business_end"]

SPELLINGS: dict[Anchor, str] = {"start": "{}S", "end": "{}E", "business_start": "B{}S", "business_end": "B{}E"}
"""pandas' spelling of an anchor, around the letter of the cycle."""

CYCLES = {1: "M", 3: "Q", 12: "Y"}
"""pandas' letter for a cycle of so many months."""

OWN_CYCLES = {1: "mo", 3: "q", 12: "y"}
"""polars' unit for a cycle of so many months, which leaves the day to the data."""


def month_of(days: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
    """Number the month, since January 1970, of days since 1970-01-01."""
    return days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def month_start(months: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
    """Give the first day of each month, in days since 1970-01-01."""
    return months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)


def month_end(months: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
    """Give the last day of each month, in days since 1970-01-01."""
    return month_start(months + 1) - 1


@dataclass(frozen=True)
class Months(Calendar):
    """Every `count` cycles of `cycle` months is one step."""

    count: int
    anchor: Anchor
    cycle: int = 1
    month: int | None = None
    """The month, 1 to 12, in which an anchored quarter or year starts (or ends, for an end anchor); None for any."""
    work: WorkDays = STANDARD
    """What the business days are, of which a business anchor is the first or the last."""
    clock = "local"

    @property
    def text(self) -> str:
        if self.anchor == "own":
            return f"{self.count}{OWN_CYCLES[self.cycle]}"
        number = "" if self.count == 1 else self.count
        month = "" if self.month is None else f"-{MONTHS[self.month - 1]}"
        return f"{number}{SPELLINGS[self.anchor].format(CYCLES[self.cycle])}{month}{bracketed(self.work)}"

    @property
    def season_length(self) -> int:
        """Steps in a year; 1 where they do not divide it."""
        return 1 if 12 % self.stride else 12 // self.stride

    @property
    def stride(self) -> int:
        """Months in a step."""
        return self.count * self.cycle

    def steps(self, places: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return (month_of(places) - self._starts(origins)) // self.stride

    def places(self, steps: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return self._days(self._starts(origins) + steps * self.stride, own=origins.month_days)

    def _starts(self, origins: Origins) -> Int64[np.ndarray, " n"]:
        months = month_of(origins.places)
        return months if self.month is None else months - (months - (self.month - 1)) % self.cycle

    def _days(self, months: Int64[np.ndarray, " n"], *, own: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
        match self.anchor:
            case "start":
                return month_start(months)
            case "end":
                return month_end(months)
            case "business_start":
                return self.work.day(self.work.number(month_start(months) - 1) + 1)
            case "business_end":
                return self.work.day(self.work.number(month_end(months)))
            case "own":
                return np.minimum(month_start(months) + own - 1, month_end(months))
