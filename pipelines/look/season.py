"""Seasonality: how a panel's series resemble themselves some steps later, and the cycles that stand out in that."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from jaxtyping import Bool, Float64

from forecast.frames.panel import Panel
from pipelines.look.peaks import peaks
from pipelines.look.wording import duration

MAX_SERIES = 200  # that are measured: the median over more does not move
MAX_STEPS = 2_000_000  # the newest that are measured of a series: the transform of more would take seconds
MAX_IN_ALL = 8_000_000  # steps of all measured series: fewer series are measured where they are long
MIN_STEPS = 16  # a shorter series repeats nothing that could be told from chance
LEAST_PAIRS = 5  # observed at both ends for a lag's correlation to count, and more where more is observed:
PAIRS_SHARE = 0.1  # of the observed steps
LEAST_PEAK = 0.075  # a lower or flatter peak helps no forecast
LEAST_AMONG_PEAKS = 0.05  # the same among the heights of peaks, which have less chance in them than the curve
REPEATS = 3  # how often a cycle must fit into the longest series
MAX_CYCLES = 4  # of one curve
ALIKE = 0.3  # share of the first peak's prominence from which on a peak is of its kind
NEAR = 0.1  # how far chance moves the top of a broad peak

Curve = Float64[np.ndarray, " lag"]


@dataclass(frozen=True)
class Cycle:
    """A lag at which the series resemble themselves more than at the lags around it."""

    lag: int
    """In steps."""

    length: timedelta | None
    """How long it is, counted from the start of the first series; None on integer time."""

    of_values: float
    """Correlation of values this far apart."""

    of_changes: float
    """Correlation of changes from step to step this far apart."""

    def __str__(self) -> str:
        steps = f"{self.lag:,} step{'s' if self.lag > 1 else ''}"
        return steps if self.length is None else f"{steps} = {duration(self.length)}"


@dataclass(frozen=True, eq=False)
class Correlation:
    """Correlation by lag over several series; lag 0, which is 1, comes first."""

    low: Curve
    """Lower quartile over the series."""

    middle: Curve
    high: Curve


@dataclass(frozen=True, eq=False)
class Seasonality:
    """Autocorrelation of values and of changes from step to step: a drift hides cycles in the first alone."""

    values: Correlation
    changes: Correlation
    num_series: int
    """Series that were measured."""

    chance: float
    """Correlations between minus and plus this are what noise of the median length has, 19 times of 20."""

    cycles: tuple[Cycle, ...]
    """Those in the values, or where these have none, in the changes; the shortest first."""


def seasonality(panel: Panel) -> Seasonality | None:
    """Measure a panel's autocorrelation up to half of its longest series; None where no series moves long enough."""
    numbers = [number for number in _evenly(panel) if panel.lengths[number] >= MIN_STEPS]
    pieces = [_newest(panel, number) for number in numbers]
    values = [autocorrelation(*piece) for piece in pieces]
    changes = [autocorrelation(*_changes(*piece)) for piece in pieces]
    moving = [place for place, pair in enumerate(zip(values, changes, strict=True)) if all(map(_is_told, pair))]
    if not moving:
        return None
    lengths = panel.lengths[[numbers[place] for place in moving]]
    chance = 1.96 / float(np.sqrt(np.median(lengths)))
    of_values, of_changes = (_over_series([curves[place] for place in moving]) for curves in (values, changes))
    first = (curve.middle[: int(lengths.max()) // REPEATS + 1] for curve in (of_values, of_changes))
    found = next(filter(None, (find_cycles(curve, chance=chance) for curve in first)), [])
    lags = {_near_season(lag, of_values.middle, season=panel.axis.frequency.season_length) for lag in found}
    cycles = tuple(_cycle(panel, lag, of_values, of_changes) for lag in sorted(lags))
    return Seasonality(of_values, of_changes, num_series=len(moving), chance=chance, cycles=cycles)


def autocorrelation(values: Float64[np.ndarray, " step"], observed: Bool[np.ndarray, " step"]) -> Curve:
    """Give the correlation of a series with itself, lag by lag up to half its length, over pairs observed at both ends.

    NaN where too few pairs are; all NaN for a series that does not move. By the power spectrum of the values and that
    of the mask (Wiener 1930, Khinchin 1934), each padded so that the end never meets the start.
    """
    num_lags = len(values) // 2 + 1
    largest = float(np.abs(values[observed]).max(initial=0.0)) or 1.0
    shares = np.where(observed, values / largest, 0.0)  # so that no square overflows
    deviations = np.where(observed, shares - shares.sum() / max(int(observed.sum()), 1), 0.0)
    products, pairs = (_self_products(part)[:num_lags] for part in (deviations, observed.astype(np.float64)))
    known = np.round(pairs) >= max(LEAST_PAIRS, PAIRS_SHARE * int(observed.sum()))
    moves = products[0] > len(values) * np.finfo(np.float64).eps ** 2
    means = np.divide(products, pairs, out=np.full(num_lags, np.nan), where=known & moves)
    return np.clip(means / means[0], -1.0, 1.0)


def find_cycles(curve: Curve, *, chance: float) -> list[int]:
    """Give the lags of the cycles in an autocorrelation, shortest first.

    The first is the lowest lag at which the curve peaks well. The next is looked for in the same way among the heights
    of the peaks, and so on: a week shows where every seventh daily peak is higher than those around it.
    """
    told = np.isfinite(curve)
    amid = told & np.append(told[1:], False) & np.append(False, told[:-1])  # beside an untold lag nothing is a peak
    lags, found = np.flatnonzero(told), list[int]()
    prominence = height = max(LEAST_PEAK, 3 * chance)
    while len(found) < MAX_CYCLES:
        standing_out = peaks(curve[lags], prominence=prominence)
        high = (curve[lags[standing_out.places]] >= height) & amid[lags[standing_out.places]]
        if not high.any():
            break
        prominences, lags = standing_out.prominences[high], lags[standing_out.places[high]]
        found.append(int(lags[0]))
        lags = lags[prominences >= ALIKE * prominences[0]]  # its repetitions, of which some stand out in their turn
        # A long cycle must tell about as much as a short one.
        prominence, height = LEAST_AMONG_PEAKS, 0.5 * float(curve[found[0]])
    return sorted(set(found))


def _near_season(lag: int, curve: Curve, *, season: int) -> int:
    """Give the frequency's own season in place of a lag that is within a tenth of it and does hardly better."""
    near = season < len(curve) and abs(lag - season) <= NEAR * season
    return season if near and curve[season] >= (1 - NEAR) * curve[lag] else lag


def _evenly(panel: Panel) -> Sequence[int]:
    """The longest series, and others evenly through the panel."""
    longest = int(panel.lengths.argmax())
    most = max(1, MAX_IN_ALL // min(int(panel.lengths[longest]), MAX_STEPS))
    chosen = np.linspace(0, len(panel) - 1, num=min(MAX_SERIES, most, len(panel)), dtype=np.int64)
    return np.union1d(chosen, [longest]).tolist()


def _newest(panel: Panel, number: int) -> tuple[Float64[np.ndarray, " step"], Bool[np.ndarray, " step"]]:
    place = panel.series(number)
    return panel.values[place][-MAX_STEPS:], panel.observed[place][-MAX_STEPS:]


def _changes(
    values: Float64[np.ndarray, " step"], observed: Bool[np.ndarray, " step"]
) -> tuple[Float64[np.ndarray, " change"], Bool[np.ndarray, " change"]]:
    both = observed[1:] & observed[:-1]
    halves = values / 2  # of the largest values that there are, the difference would overflow
    return np.where(both, np.diff(halves), 0.0), both


def _is_told(curve: Curve) -> bool:
    return int(np.isfinite(curve).sum()) > 1


def _over_series(curves: Sequence[np.ndarray]) -> Correlation:
    """The quartiles at every lag about which half of the series can tell."""
    table = np.full((len(curves), max(map(len, curves))), np.nan)
    for row, curve in zip(table, curves, strict=True):
        row[: len(curve)] = curve
    by_lag = np.sort(table, axis=0)  # NaN goes last
    told = np.isfinite(table).sum(axis=0)
    quartiles = [_quantile(by_lag, told, level) for level in (0.25, 0.5, 0.75)]
    last = int(np.flatnonzero(2 * told >= len(curves))[-1])
    return Correlation(*(quartile[: last + 1] for quartile in quartiles))


def _quantile(by_lag: Float64[np.ndarray, "series lag"], told: np.ndarray, level: float) -> Curve:
    place = level * np.maximum(told - 1, 0)
    below, lags = np.floor(place).astype(np.int64), np.arange(by_lag.shape[1])
    above = np.minimum(below + 1, np.maximum(told - 1, 0))
    share = place - below
    return by_lag[below, lags] * (1 - share) + by_lag[above, lags] * share


def _self_products(values: Float64[np.ndarray, " step"]) -> Curve:
    size = 1 << (2 * len(values) - 1).bit_length()
    return np.fft.irfft(np.abs(np.fft.rfft(values, size)) ** 2, size)[: len(values)]


def _cycle(panel: Panel, lag: int, of_values: Correlation, of_changes: Correlation) -> Cycle:
    first, later = panel.axis.moments_at(np.zeros(2, dtype=np.int64), steps=np.array([0, lag])).to_list()
    length = later - first if isinstance(first, datetime) else None
    values, changes = (_at(curve.middle, lag) for curve in (of_values, of_changes))
    return Cycle(lag, length, of_values=values, of_changes=changes)


def _at(curve: Curve, lag: int) -> float:
    return float(curve[lag]) if lag < len(curve) else float("nan")
