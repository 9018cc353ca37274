"""The rows of a frame as arrays, sorted by series and time, and the groups of rows that a check picks out."""

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, Self

import numpy as np
import polars as pl
from jaxtyping import Bool, Float64, Int64

from forecast.frames.calendar.base import Clock
from forecast.frames.clock import Places, places_of


@dataclass(frozen=True, eq=False)
class Group:
    """Rows or steps of one series that share a finding."""

    series: int
    """The number of the series."""

    first_stamp: str
    """The earliest stamp concerned, as the caller writes it."""

    count: int


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows sorted by series, then time, then place in the frame."""

    series: Int64[np.ndarray, " row"]
    """The number of each row's series."""

    moments: pl.Series
    """When: Int64 or Datetime; null only before the stamps are checked."""

    values: Float64[np.ndarray, " row"]
    """The target; NaN where it is missing."""

    numbers: Int64[np.ndarray, " row"]
    """The row's place in the caller's frame."""

    @classmethod
    def sort(cls, *, series: Int64[np.ndarray, " row"], moments: pl.Series, targets: pl.Series) -> Self:
        """Sort the rows of a frame."""
        values = targets.fill_null(float("nan")).to_numpy()
        numbers = np.arange(len(series), dtype=np.int64)
        ticks = moments.to_physical().fill_null(0).to_numpy()
        if not _out_of_order(series, ticks):
            return cls(series, moments, values, numbers)
        order = np.lexsort((ticks, series))  # stable: rows of one stamp keep the order of the frame
        return cls(series[order], moments.gather(order), values[order], numbers[order])

    @cached_property
    def starts(self) -> Int64[np.ndarray, " group"]:
        """The place of the first row of each series that has rows."""
        return np.flatnonzero(np.diff(self.series, prepend=-1)).astype(np.int64)

    @cached_property
    def lasts(self) -> Int64[np.ndarray, " group"]:
        """The place of the last row of each series that has rows."""
        return np.append(self.starts[1:], len(self.series)) - 1

    @cached_property
    def group(self) -> Int64[np.ndarray, " row"]:
        """The place in `starts` of each row's series."""
        return np.repeat(np.arange(len(self.starts)), self.lasts - self.starts + 1)

    def places(self, clock: Clock) -> Places:
        """Give the rows' places on a clock; worked out once, since every calendar that may be meant asks for them."""
        if clock not in self._places:
            self._places[clock] = places_of(self.moments, clock=clock)
        return self._places[clock]

    @cached_property
    def _places(self) -> dict[Clock, Places]:
        return {}

    def keep(self, chosen: Bool[np.ndarray, " row"]) -> Self:
        """Give the chosen rows."""
        if chosen.all():
            return self
        return type(self)(self.series[chosen], self.moments.filter(chosen), self.values[chosen], self.numbers[chosen])

    def groups(self, chosen: Bool[np.ndarray, " row"], *, stamps: pl.Series) -> list[Group]:
        """Group the chosen rows by series; `stamps` is the caller's column, for the text of the first."""
        places = np.flatnonzero(chosen)
        if not len(places):
            return []
        series, first, counts = np.unique(self.series[places], return_index=True, return_counts=True)
        rows = self.numbers[places[first]]
        texts = [
            f"row {row}" if stamp is None else stamp_text(stamp) for row, stamp in zip(rows, stamps[rows], strict=True)
        ]
        return [Group(*known) for known in zip(series.tolist(), texts, counts.tolist(), strict=True)]


def _out_of_order(series: Int64[np.ndarray, " row"], ticks: Int64[np.ndarray, " row"]) -> bool:
    step = np.diff(series)
    return bool(((step < 0) | ((step == 0) & (np.diff(ticks) < 0))).any())


def stamp_text(stamp: Any) -> str:
    """Write one stamp for people."""
    return stamp.isoformat(sep=" ") if isinstance(stamp, datetime) else str(stamp)
