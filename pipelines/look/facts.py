"""What each series of a panel is like: length, level, spread, zeros, what is missing and for how long."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from jaxtyping import Bool, Float64, Int64

from forecast.frames.panel import Panel
from forecast.frames.rows import stamp_text

ROUNDING = 16 * float(np.finfo(np.float64).eps)  # a spread below this share of the largest value is rounding


@dataclass(frozen=True, eq=False)
class SeriesFacts:
    """One figure a series, in the panel's order; those of values are over observed steps, NaN where there are none."""

    lengths: Int64[np.ndarray, " series"]
    num_missing: Int64[np.ndarray, " series"]
    longest_gap: Int64[np.ndarray, " series"]
    """Steps of the longest run without an observation."""

    mean: Float64[np.ndarray, " series"]
    std: Float64[np.ndarray, " series"]
    """Of the population; exactly 0 for a constant series."""

    lowest: Float64[np.ndarray, " series"]
    highest: Float64[np.ndarray, " series"]
    zeros: Float64[np.ndarray, " series"]
    """Share of observed steps whose value is 0."""

    starts: tuple[str, ...]
    """The first stamp of each series, as the caller writes it."""

    ends: tuple[str, ...]

    def __len__(self) -> int:
        """Give the number of series."""
        return len(self.lengths)

    @cached_property
    def missing(self) -> Float64[np.ndarray, " series"]:
        """Share of the steps that have no observation."""
        return self.num_missing / self.lengths

    @property
    def constant(self) -> Bool[np.ndarray, " series"]:
        """True for series of two or more observed values that are all the same."""
        return (self.lowest == self.highest) & (self.lengths - self.num_missing > 1)


def series_facts(panel: Panel) -> SeriesFacts:
    """Measure every series of a panel."""
    owner = np.repeat(np.arange(len(panel)), panel.lengths)
    seen, values = owner[panel.observed], panel.values[panel.observed]
    count = np.bincount(seen, minlength=len(panel))
    lowest, highest = np.full(len(panel), np.inf), np.full(len(panel), -np.inf)
    np.minimum.at(lowest, seen, values)
    np.maximum.at(highest, seen, values)
    none = count == 0
    lowest[none] = highest[none] = np.nan
    mean, std = _moments(values, owner=seen, count=count, level=np.fmax(np.abs(lowest), np.abs(highest)))
    return SeriesFacts(
        lengths=panel.lengths,
        num_missing=(panel.lengths - count).astype(np.int64),
        longest_gap=_longest_gap(panel, owner),
        mean=mean,
        std=np.where(lowest == highest, 0.0, std),
        lowest=lowest,
        highest=highest,
        zeros=_share(np.bincount(seen, values == 0, minlength=len(panel)), count),
        starts=_stamps(panel, steps=np.zeros_like(panel.lengths)),
        ends=_stamps(panel, steps=panel.lengths - 1),
    )


def _moments(
    values: Float64[np.ndarray, " value"],
    *,
    owner: Int64[np.ndarray, " value"],
    count: Int64[np.ndarray, " series"],
    level: Float64[np.ndarray, " series"],
) -> tuple[Float64[np.ndarray, " series"], Float64[np.ndarray, " series"]]:
    """Mean and standard deviation, worked out in shares of the largest value so that no sum and no square overflows."""
    unit = np.where(level > 0, level, 1.0)  # NaN is not above 0
    shares = values / unit[owner]
    mean = _share(np.bincount(owner, shares, minlength=len(count)), count)
    variance = _share(np.bincount(owner, (shares - mean[owner]) ** 2, minlength=len(count)), count)
    std = np.sqrt(variance)
    return mean * unit, np.where(std > ROUNDING, std, 0.0 * std) * unit


def _share(part: np.ndarray, whole: Int64[np.ndarray, " series"]) -> Float64[np.ndarray, " series"]:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


def _longest_gap(panel: Panel, owner: Int64[np.ndarray, " step"]) -> Int64[np.ndarray, " series"]:
    missing = np.flatnonzero(~panel.observed)
    longest = np.zeros(len(panel), dtype=np.int64)
    if len(missing):
        begins = np.flatnonzero((np.diff(missing, prepend=-2) != 1) | (np.diff(owner[missing], prepend=-1) != 0))
        np.maximum.at(longest, owner[missing[begins]], np.diff(np.append(begins, len(missing))))
    return longest


def _stamps(panel: Panel, *, steps: Int64[np.ndarray, " series"]) -> tuple[str, ...]:
    stamps: pl.Series = panel.axis.stamps_at(np.arange(len(panel)), steps=steps)
    return tuple(stamp_text(stamp) for stamp in stamps)
