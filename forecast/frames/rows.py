"""The rows of a frame as arrays, sorted by series and time, and the groups of rows that a check picks out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from jaxtyping import Bool, Float64, Int64


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
        numbers = pl.int_range(len(series), eager=True)
        frame = pl.DataFrame({"series": series, "moment": moments, "target": targets, "number": numbers})
        frame = frame.sort("series", "moment", "number", nulls_last=False)
        return cls(
            series=frame["series"].to_numpy(),
            moments=frame["moment"],
            values=frame["target"].fill_null(float("nan")).to_numpy().copy(),
            numbers=frame["number"].to_numpy(),
        )

    def keep(self, chosen: Bool[np.ndarray, " row"]) -> Self:
        """Give the chosen rows."""
        if chosen.all():
            return self
        return type(self)(self.series[chosen], self.moments.filter(chosen), self.values[chosen], self.numbers[chosen])

    def starts(self) -> Int64[np.ndarray, " group"]:
        """Give the place of the first row of each series that has rows."""
        return np.flatnonzero(np.diff(self.series, prepend=-1)).astype(np.int64)

    def groups(self, chosen: Bool[np.ndarray, " row"], *, stamps: pl.Series) -> Iterator[Group]:
        """Group the chosen rows by series; `stamps` is the caller's column, for the text of the first."""
        places = np.flatnonzero(chosen)
        series, first, counts = np.unique(self.series[places], return_index=True, return_counts=True)
        for number, place, count in zip(series, places[first], counts, strict=True):
            yield Group(int(number), stamp_text(stamps[int(self.numbers[place])]), int(count))


def stamp_text(stamp: object) -> str:
    """Write one stamp for people."""
    return stamp.isoformat(sep=" ") if hasattr(stamp, "hour") else str(stamp)
