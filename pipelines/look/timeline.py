"""The time of a whole panel as one line from 0 to 1, and the stamps to write under it."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Float64

from forecast.frames.panel import Panel
from pipelines.look.ticks import round_numbers

SECOND, DAY = 1.0, 86_400.0
INTERVALS = (
    ("1s", SECOND), ("5s", 5.0), ("15s", 15.0), ("1m", 60.0), ("5m", 300.0), ("15m", 900.0), ("30m", 1_800.0),
    ("1h", 3_600.0),
    ("3h", 10_800.0), ("6h", 21_600.0), ("12h", 43_200.0), ("1d", DAY), ("2d", 2 * DAY), ("1w", 7 * DAY),
    ("2w", 14 * DAY), ("1mo", 30.4 * DAY), ("3mo", 91.3 * DAY), ("6mo", 182.6 * DAY), ("1y", 365.2 * DAY),
    ("2y", 730.5 * DAY), ("5y", 1_826.0 * DAY), ("10y", 3_652.0 * DAY), ("20y", 7_305.0 * DAY), ("50y", 18_262.0 * DAY),
)  # fmt: skip
"""How far apart stamps may stand under a picture, as polars spells it and in seconds."""

WRITTEN = {"s": "%H:%M:%S", "m": "%m-%d %H:%M", "h": "%m-%d %H:%M", "d": "%Y-%m-%d", "w": "%Y-%m-%d"}
MONTHS, YEARS = "%Y-%m", "%Y"


@dataclass(frozen=True)
class Tick:
    """A mark under a picture."""

    place: float
    """From 0 at the left to 1 at the right."""

    text: str


@dataclass(frozen=True, eq=False)
class Timeline:
    """A stretch of time, written in the zone of the data."""

    ends: pl.Series
    """Its first and last moment: Int64 or Datetime."""

    @classmethod
    def of_panel(cls, panel: Panel) -> "Timeline":
        """Give the time from the first step of any series to the last."""
        numbers = np.arange(len(panel), dtype=np.int64)
        moments = [panel.axis.moments_at(numbers, steps=steps) for steps in (0 * panel.lengths, panel.lengths - 1)]
        return cls(pl.concat([moments[0].sort()[:1], moments[1].sort()[-1:]]))

    @classmethod
    def of_series(cls, panel: Panel, number: int) -> "Timeline":
        """Give the time of one series."""
        return cls(_ends(panel, number))

    def places(self, moments: pl.Series) -> Float64[np.ndarray, " n"]:
        """Give where moments lie, as shares of the whole; 0 where it has no length."""
        first, last = (int(end) for end in self.ends.to_physical())
        # As differences of whole numbers: nanoseconds since 1970 do not fit a float64.
        return (moments.to_physical().to_numpy() - first) / max(last - first, 1)

    def span_of(self, panel: Panel, number: int) -> tuple[float, float]:
        """Give where a series begins and ends."""
        first, last = self.places(_ends(panel, number)).tolist()
        return first, last

    def ticks(self, *, most: int) -> list[Tick]:
        """Give at most about `most` round stamps."""
        if not isinstance(self.ends.dtype, pl.Datetime):
            first, last = (float(end) for end in self.ends)
            return [
                Tick((number - first) / max(last - first, 1.0), f"{number:,.0f}")
                for number in round_numbers(first, last, most=most)
                if number == round(number)
            ]
        span = (self.ends[1] - self.ends[0]).total_seconds()
        interval = next((name for name, size in INTERVALS if span <= size * most), INTERVALS[-1][0])
        stamps = self._stamps(interval)
        texts = stamps.dt.to_string(_pattern(interval))
        return [Tick(*known) for known in zip(self.places(stamps).tolist(), texts.to_list(), strict=True)]

    def _stamps(self, interval: str) -> pl.Series:
        first = self.ends.dt.truncate(interval)[0]
        stamps = pl.datetime_range(first, self.ends[1], interval=interval, eager=True).cast(self.ends.dtype)
        return stamps.filter(stamps >= self.ends[0])


def _ends(panel: Panel, number: int) -> pl.Series:
    steps = np.array([0, panel.lengths[number] - 1], dtype=np.int64)
    return panel.axis.moments_at(np.full(2, number, dtype=np.int64), steps=steps)


def _pattern(interval: str) -> str:
    if interval.endswith("mo"):
        return MONTHS
    return YEARS if interval.endswith("y") else WRITTEN[interval[-1]]
