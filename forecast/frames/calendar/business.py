"""Business days: Monday to Friday, as pandas' `B`; a holiday is a step without an observation."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from forecast.frames.calendar.base import Calendar, Origins

FIRST_MONDAY = 4  # 1970-01-05, in days since 1970-01-01


def business_number(days: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
    """Number the business days; a Saturday or Sunday has the number of the Friday before it."""
    weeks, weekdays = np.divmod(days - FIRST_MONDAY, 7)
    return weeks * 5 + np.minimum(weekdays, 4)


def business_day(numbers: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
    """Give the day, since 1970-01-01, of each numbered business day."""
    weeks, weekdays = np.divmod(numbers, 5)
    return weeks * 7 + weekdays + FIRST_MONDAY


@dataclass(frozen=True)
class BusinessDays(Calendar):
    """Every `count` business days is one step."""

    count: int
    clock = "local"

    @property
    def text(self) -> str:
        return "B" if self.count == 1 else f"{self.count}B"

    @property
    def season_length(self) -> int:
        return 5 if self.count == 1 else 1

    def steps(self, places: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return (business_number(places) - business_number(origins.places)) // self.count

    def places(self, steps: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return business_day(business_number(origins.places) + steps * self.count)
