"""Two steps a month: its first day and one in the middle, or one in the middle and its last, as pandas' SMS and SME."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Int64

from forecast.frames.calendar.base import Calendar, Origins
from forecast.frames.calendar.months import month_end, month_of, month_start

MIDDLE = 15  # pandas' default


@dataclass(frozen=True)
class SemiMonths(Calendar):
    """Every `count` half months is one step."""

    count: int
    anchor: Literal["start", "end"]
    middle: int = MIDDLE
    """Day of the month between its ends: 2 to 27."""
    clock = "local"

    @property
    def text(self) -> str:
        letters = "SMS" if self.anchor == "start" else "SME"
        return f"{'' if self.count == 1 else self.count}{letters}-{self.middle}"

    @property
    def season_length(self) -> int:
        """Steps in a year; 1 where they do not divide it."""
        return 1 if 24 % self.count else 24 // self.count

    def steps(self, places: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return (self.halves(places) - self.halves(origins.places)) // self.count

    def places(self, steps: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        months, late = np.divmod(self.halves(origins.places) + steps * self.count, 2)
        middle = month_start(months) + self.middle - 1
        if self.anchor == "start":
            return np.where(late == 1, middle, month_start(months))
        return np.where(late == 1, month_end(months), middle)

    def halves(self, days: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
        """Number the half month in which each day lies, or the one before where the day comes before both."""
        months = month_of(days)
        past_middle = (days >= month_start(months) + self.middle - 1).astype(np.int64)
        if self.anchor == "start":
            return 2 * months + past_middle
        return 2 * months - 1 + past_middle + (days == month_end(months))
