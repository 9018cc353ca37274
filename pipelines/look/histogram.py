"""How figures spread: counts in bins of equal width, or of equal ratio where figures span decades."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

NUM_BINS = 48
REACH = (-307.5, 308.2)  # powers of ten that float64 holds in full


@dataclass(frozen=True, eq=False)
class Histogram:
    """Counts of figures between edges."""

    edges: Float64[np.ndarray, " edge"]
    """In the units of the figures."""

    counts: Int64[np.ndarray, " bin"]
    logarithmic: bool
    """Whether the edges grow by equal ratios."""

    num_zero: int = 0
    """Figures that a logarithmic scale has no place for."""


def linear_histogram(figures: Float64[np.ndarray, " n"]) -> Histogram | None:
    """Count finite figures in bins of equal width; None where there are none."""
    finite = figures[np.isfinite(figures)]
    if not len(finite):
        return None
    unit = float(np.abs(finite).max()) or 1.0  # so that the width of the largest figures does not overflow
    counts, edges = np.histogram(finite / unit, bins=NUM_BINS)
    return Histogram(edges * unit, counts.astype(np.int64), logarithmic=False)


def log_histogram(figures: Float64[np.ndarray, " n"]) -> Histogram | None:
    """Count the sizes of finite figures in bins of equal ratio, zeros apart; None where all are 0 or undefined."""
    sizes = np.abs(figures[np.isfinite(figures)])
    logs = np.log10(sizes[sizes > 0])
    if not len(logs):
        return None
    low, high = np.floor(logs.min()), np.ceil(logs.max())
    counts, edges = np.histogram(logs, bins=NUM_BINS, range=(low, max(high, low + 1)))
    return Histogram(
        10 ** np.clip(edges, *REACH), counts.astype(np.int64), logarithmic=True, num_zero=int((sizes == 0).sum())
    )
