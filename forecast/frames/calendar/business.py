"""Business days: those of a week that are worked, less holidays; a day off is no step."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from forecast.frames.calendar.base import Calendar, Origins
from forecast.frames.calendar.brackets import bracketed
from forecast.frames.calendar.work_days import STANDARD, WorkDays


@dataclass(frozen=True)
class BusinessDays(Calendar):
    """Every `count` business days is one step."""

    count: int
    work: WorkDays = STANDARD
    clock = "local"

    @property
    def text(self) -> str:
        return f"{'' if self.count == 1 else self.count}B{bracketed(self.work)}"

    @property
    def season_length(self) -> int:
        """A week of business days; 1 where the steps do not divide it."""
        week = len(self.work.weekdays)
        return week if self.count == 1 and week > 1 else 1

    def steps(self, places: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        self.work.check(places)
        return (self.work.number(places) - self.work.number(origins.places)) // self.count

    def places(self, steps: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return self.work.day(self.work.number(origins.places) + steps * self.count)
