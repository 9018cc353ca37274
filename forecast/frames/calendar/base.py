"""The contract of a calendar: how the steps of a series are counted on a line of whole numbers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Int64

Clock = Literal["count", "instant", "local", "wall"]
"""The line on which places lie: integer time; nanoseconds since 1970 in UTC; local days since 1970-01-01; or
microseconds that the local clock has shown since then."""


@dataclass(frozen=True, eq=False)
class Origins:
    """Where each series (or the series of each row) starts, and what its first stamp does not say about the rest."""

    places: Int64[np.ndarray, " n"]
    """Place of step 0 on the calendar's clock."""

    times_of_day: Int64[np.ndarray, " n"]
    """Nanoseconds after the place at which each step falls: of the day where places are days, of the microsecond on the
    wall's clock, else 0."""

    month_days: Int64[np.ndarray, " n"]
    """Day of the month on which steps fall, or its last where it is shorter; 0 where steps count no months."""

    def take(self, numbers: Int64[np.ndarray, " m"]) -> "Origins":
        """Give the origins at the given positions, one a number."""
        return Origins(self.places[numbers], self.times_of_day[numbers], self.month_days[numbers])


class Calendar(ABC):
    """One kind of step. Its text spells it for people and parses back to an equal calendar."""

    clock: ClassVar[Clock]

    @property
    @abstractmethod
    def text(self) -> str:
        """The canonical spelling: pandas' where there is one, else polars'."""

    @property
    @abstractmethod
    def season_length(self) -> int:
        """Steps in the default season; 1 where there is none."""

    @abstractmethod
    def steps(self, places: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        """Number the step in which each place lies, counted from its origin; a place off the grid is rounded down."""

    @abstractmethod
    def places(self, steps: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        """Give the place of each step counted from its origin."""
