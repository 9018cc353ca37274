"""Days and weeks of the local calendar, whatever the length of a day on which the clock changes."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from forecast.frames.calendar.base import Calendar, Origins

WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
EPOCH_WEEKDAY = 3  # 1970-01-01 was a Thursday


def weekday(days: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
    """Give the day of the week, Monday 0, of days since 1970-01-01."""
    return (days + EPOCH_WEEKDAY) % 7


@dataclass(frozen=True)
class Days(Calendar):
    """Every `count` days is one step; `anchor` is the weekday that whole weeks must fall on, None for a series' own."""

    count: int
    anchor: int | None = None
    clock = "local"

    @property
    def text(self) -> str:
        if self.count % 7:
            return "D" if self.count == 1 else f"{self.count}D"
        weeks = self.count // 7
        if self.anchor is None:
            return f"{weeks}w"
        return f"{'' if weeks == 1 else weeks}W-{WEEKDAYS[self.anchor]}"

    @property
    def season_length(self) -> int:
        """A week of days, or a year of weeks; 1 where the steps do not divide it."""
        if self.count == 1:
            return 7
        weeks, rest = divmod(self.count, 7)
        return 52 // weeks if not rest and 52 % weeks == 0 else 1

    def steps(self, places: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return (places - self._starts(origins)) // self.count

    def places(self, steps: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return self._starts(origins) + steps * self.count

    def _starts(self, origins: Origins) -> Int64[np.ndarray, " n"]:
        if self.anchor is None:
            return origins.places
        return origins.places - (weekday(origins.places) - self.anchor) % 7
