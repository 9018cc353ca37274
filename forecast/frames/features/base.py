"""What a calendar feature is: numbers made from the stamps alone, in the caller's local time, and so known ahead."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from jaxtyping import Float64, Int64

from forecast.errors import ConfigError
from forecast.frames.calendar.base import Origins
from forecast.frames.calendar.days import weekday
from forecast.frames.calendar.instants import DAY
from forecast.frames.calendar.months import month_end, month_of, month_start
from forecast.frames.clock import places_of
from forecast.frames.frequency import Frequency


@dataclass(frozen=True, eq=False)
class LocalTimes:
    """Moments as a clock and a calendar on the wall show them; each part is worked out once, when it is asked for."""

    days: Int64[np.ndarray, " row"]
    """Since 1970-01-01."""

    times_of_day: Int64[np.ndarray, " row"]
    """Nanoseconds after midnight."""

    @classmethod
    def of(cls, moments: pl.Series) -> "LocalTimes":
        """Read moments, naive or in the zone in which days are counted."""
        places = places_of(moments, clock="local")
        return cls(places.places, places.times_of_day)

    @cached_property
    def part_of_day(self) -> Float64[np.ndarray, " row"]:
        """From 0 at midnight to 1 at the next."""
        return self.times_of_day / DAY

    @cached_property
    def weekday(self) -> Int64[np.ndarray, " row"]:
        """Monday 0."""
        return weekday(self.days)

    @cached_property
    def months(self) -> Int64[np.ndarray, " row"]:
        """Since January 1970."""
        return month_of(self.days)

    @cached_property
    def day_of_month(self) -> Int64[np.ndarray, " row"]:
        """The first is 0."""
        return self.days - month_start(self.months)

    @cached_property
    def days_in_month(self) -> Int64[np.ndarray, " row"]:
        """28 to 31."""
        return month_end(self.months) - month_start(self.months) + 1

    @cached_property
    def day_of_quarter(self) -> Int64[np.ndarray, " row"]:
        """The first is 0."""
        return self.days - month_start(self.months - self.months % 3)

    @cached_property
    def days_in_quarter(self) -> Int64[np.ndarray, " row"]:
        """90 to 92."""
        first = self.months - self.months % 3
        return month_start(first + 3) - month_start(first)

    @cached_property
    def years(self) -> Int64[np.ndarray, " row"]:
        """As written, 2024."""
        return self.months // 12 + 1970

    @cached_property
    def day_of_year(self) -> Int64[np.ndarray, " row"]:
        """The first of January is 0."""
        return self.days - new_year(self.years)

    @cached_property
    def days_in_year(self) -> Int64[np.ndarray, " row"]:
        """365 or 366."""
        return new_year(self.years + 1) - new_year(self.years)


def new_year(years: Int64[np.ndarray, " row"]) -> Int64[np.ndarray, " row"]:
    """Give the first day of each year, in days since 1970-01-01."""
    return month_start((years - 1970) * 12)


class Feature(ABC):
    """A value, or several, for any moment: the same for the same local time, whatever series or zone it is in."""

    @abstractmethod
    def names(self, frequency: Frequency) -> tuple[str, ...]:
        """Name the columns.

        Raises:
            ConfigError: the feature means nothing for steps of this kind.
        """

    @abstractmethod
    def columns(self, moments: pl.Series, *, frequency: Frequency) -> Float64[np.ndarray, "row feature"]:
        """Give the values at moments as `TimeAxis.moments_at` gives them: Int64, or Datetime naive or in a zone.

        Raises:
            ConfigError: the feature means nothing for steps of this kind.
        """


class LocalFeature(Feature):
    """A feature that reads the wall's clock and calendar, and so means nothing for integer time."""

    @property
    @abstractmethod
    def column_names(self) -> tuple[str, ...]:
        """The columns, whatever the frequency."""

    @abstractmethod
    def at(self, local: LocalTimes) -> Float64[np.ndarray, "row feature"]:
        """Give the values at local times."""

    def names(self, frequency: Frequency) -> tuple[str, ...]:
        """Name the columns."""
        if frequency.calendar.clock == "count":
            raise ConfigError(
                f"the calendar feature {self.column_names[0]!r} means nothing for integer time, which has no dates; "
                f"leave it out, or use 'season' or 'fourier' with a period in steps",
                field="calendar",
            )
        return self.column_names

    def columns(self, moments: pl.Series, *, frequency: Frequency) -> Float64[np.ndarray, "row feature"]:
        """Give the values at moments."""
        self.names(frequency)
        return self.at(LocalTimes.of(moments))


def whole_steps(moments: pl.Series, *, frequency: Frequency) -> Int64[np.ndarray, " row"]:
    """Number the step of each moment on the wall's clock from one origin for all series: 1970, or the integer 0."""
    calendar = frequency.calendar
    naive = moments.dt.replace_time_zone(None) if isinstance(moments.dtype, pl.Datetime) else moments
    places = places_of(naive, clock=calendar.clock).places
    zero = np.zeros(1, dtype=np.int64)
    return calendar.steps(places, origins=Origins(zero, zero, zero).take(np.zeros(len(places), dtype=np.int64)))


def sin_cos(phases: Float64[np.ndarray, " row"]) -> Float64[np.ndarray, "row 2"]:
    """Give the place on the unit circle at each phase, 0 to 1 around it."""
    angles = 2 * np.pi * phases
    circle = np.empty((len(phases), 2))
    np.sin(angles, out=circle[:, 0])
    np.cos(angles, out=circle[:, 1])
    return circle
