"""The time axis of a panel: what its steps mean, and the caller's own stamps for any of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import polars as pl
from jaxtyping import Int64

from forecast.errors import FrequencyError
from forecast.frames.calendar.base import Origins
from forecast.frames.clock import Places, places_of, stamps_at
from forecast.frames.column_type import ColumnType
from forecast.frames.frequency import Frequency
from forecast.frames.text_time import TextFormat


@dataclass(frozen=True)
class StampType:
    """How the caller writes time."""

    column: ColumnType
    """The type of the caller's column, given back with every answer."""

    dtype: pl.DataType
    """The type computed in: Int64, or Datetime of the caller's unit, with the zone in which days are counted."""

    text: TextFormat | None = None
    """How the caller's text spells a stamp; None where the stamps are no text."""

    naive: bool = False
    """True where the caller's stamps carry no zone and `dtype` has the one that the contract reads them in."""

    @property
    def zone(self) -> str | None:
        """The zone in which days are counted; None for integers and for stamps that have none."""
        return self.dtype.time_zone if isinstance(self.dtype, pl.Datetime) else None

    def dress(self, stamps: pl.Series) -> pl.Series:
        """Give stamps of `dtype` as the caller writes them.

        Raises:
            FrequencyError: the caller's integer type is too narrow for them.
        """
        if self.naive:
            stamps = stamps.dt.replace_time_zone(None)
        if self.text is not None:
            return self.text.write(stamps)
        try:
            return stamps.cast(self.column.dtype)
        except pl.exceptions.InvalidOperationError:
            raise FrequencyError(
                f"stamps up to {stamps.max()} do not fit {self.column.dtype}, the type of the frame's time column; "
                f"send it as 64-bit integers, or ask for a shorter horizon",
                field="frequency",
            ) from None


@dataclass(frozen=True, eq=False)
class TimeAxis:
    """The steps of every series, counted from its first stamp."""

    frequency: Frequency
    stamp_type: StampType
    origins: Origins
    """Where each series starts."""

    @property
    def zone(self) -> str | None:
        """The zone in which days and coarser steps are counted; None where there is none."""
        return self.stamp_type.zone

    def select(self, numbers: Sequence[int]) -> Self:
        """Give the axis of the chosen series, in the order asked for."""
        return replace(self, origins=self.origins.take(np.asarray(numbers, dtype=np.int64)))

    def stamps(self, number: int, *, first: int, count: int) -> pl.Series:
        """Give the stamps of `count` steps of one series from step `first` on, in the caller's dtype, unit and zone.

        Steps may lie past the end of the series: they continue its own pattern.
        """
        steps = np.arange(first, first + count, dtype=np.int64)
        return self.stamps_at(np.full(count, number, dtype=np.int64), steps=steps)

    def stamps_at(self, numbers: Int64[np.ndarray, " n"], *, steps: Int64[np.ndarray, " n"]) -> pl.Series:
        """Give the stamp of one step a row, in the caller's dtype, unit and zone; row `n` is of series `numbers[n]`."""
        return self.stamp_type.dress(self.moments_at(numbers, steps=steps))

    def steps_at(self, numbers: Int64[np.ndarray, " n"], *, moments: pl.Series) -> Int64[np.ndarray, " n"]:
        """Give the step of one moment a row: `moments_at` of it is that moment, or an earlier one where none is on it.

        `moments` are of the type computed in, without nulls.
        """
        calendar = self.frequency.calendar
        return calendar.steps(places_of(moments, clock=calendar.clock).places, origins=self.origins.take(numbers))

    def moments_at(self, numbers: Int64[np.ndarray, " n"], *, steps: Int64[np.ndarray, " n"]) -> pl.Series:
        """Give the moment of one step a row as Int64 or Datetime, also where the caller's stamps are text or dates."""
        calendar, origins = self.frequency.calendar, self.origins.take(numbers)
        places = Places(calendar.places(steps, origins=origins), origins.times_of_day)
        return stamps_at(places, clock=calendar.clock, dtype=self.stamp_type.dtype)
