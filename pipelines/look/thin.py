"""A long line in as many points as a picture can show: the lowest and the highest of every stretch of equal length."""

import numpy as np
from jaxtyping import Float64, Int64


def thinned(values: Float64[np.ndarray, " step"], *, num_bins: int) -> Int64[np.ndarray, " point"]:
    """Give the steps to draw, in order; all of them where there are at most two a bin.

    NaN is a step without a value. A bin that has none gives its first step, so that the line breaks there.
    """
    if len(values) <= 2 * num_bins:
        return np.arange(len(values), dtype=np.int64)
    firsts = -(-np.arange(num_bins, dtype=np.int64) * len(values) // num_bins)
    bins = np.repeat(np.arange(num_bins), np.diff(firsts, append=len(values)))
    lowest = np.fmin.reduceat(values, firsts)[bins]
    highest = np.fmax.reduceat(values, firsts)[bins]
    chosen = [_first_in_bins(values == extreme, bins) for extreme in (lowest, highest)]
    empty = firsts[np.isnan(np.fmin.reduceat(values, firsts))]
    return np.unique(np.concatenate([*chosen, empty]))


def _first_in_bins(marked: np.ndarray, bins: Int64[np.ndarray, " step"]) -> Int64[np.ndarray, " bin"]:
    places = np.flatnonzero(marked)
    return places[np.unique(bins[places], return_index=True)[1]]
