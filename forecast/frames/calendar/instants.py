"""Steps finer than a day: a fixed span of elapsed time, so that no change of the clock makes a gap or a duplicate."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from forecast.errors import FrequencyError
from forecast.frames.calendar.base import Calendar, Origins

SECOND = 1_000_000_000
"""Nanoseconds in a second."""

DAY = 86_400 * SECOND

REACH = 2.0**63
"""Nanoseconds since 1970 that 64 bits hold, in the year 2262."""

UNITS = {
    "h": 3600 * SECOND,
    "min": 60 * SECOND,
    "s": SECOND,
    "ms": SECOND // 1000,
    "us": 1000,
    "ns": 1,
}
"""Nanoseconds in each unit that is used for spelling, the largest first."""


@dataclass(frozen=True)
class Instants(Calendar):
    """Every `span` nanoseconds of elapsed time is one step."""

    span: int
    clock = "instant"

    @property
    def text(self) -> str:
        unit = next(unit for unit, length in UNITS.items() if self.span % length == 0)
        count = self.span // UNITS[unit]
        return unit if count == 1 else f"{count}{unit}"

    @property
    def season_length(self) -> int:
        """Steps in a day, or in an hour for steps below a minute; a week of 24 hours; 1 where they do not divide it."""
        if self.span < SECOND:
            return 1
        if self.span == DAY:
            return 7
        season = DAY if self.span >= UNITS["min"] else UNITS["h"]
        return 1 if season % self.span else season // self.span

    def steps(self, places: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return (places - origins.places) // self.span

    def places(self, steps: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        furthest = np.abs(origins.places + steps.astype(np.float64) * self.span).max(initial=0)
        if furthest > REACH:
            raise FrequencyError(
                f"steps of {self.text!r} reach beyond the year 2262, which nanoseconds in 64 bits cannot count; "
                f"ask for a shorter horizon, or give a coarser frequency",
                field="frequency",
            )
        return origins.places + steps * self.span
