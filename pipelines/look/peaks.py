"""Peaks of a curve and how far each stands out, in one pass: on a drift, scipy's way takes the square of the time."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64


@dataclass(frozen=True, eq=False)
class Peaks:
    """Places that are higher than what is beside them; of a flat top the middle."""

    places: Int64[np.ndarray, " peak"]

    prominences: Float64[np.ndarray, " peak"]
    """How far one must go down from each to reach a higher place, or the end of the curve on the better side."""


def peaks(curve: Float64[np.ndarray, " place"], *, prominence: float) -> Peaks:
    """Give the peaks that stand out by at least `prominence`."""
    places = _tops(curve)
    if not len(places):
        return Peaks(places, np.empty(0))
    heights = curve[places].tolist()
    lows = np.minimum.reduceat(curve, np.append(0, places)).tolist()  # before, between and after the peaks
    before = _bases(heights, lows[:-1])
    after = _bases(heights[::-1], lows[:0:-1])[::-1]
    prominences = curve[places] - np.maximum(before, after)
    stand_out = prominences >= prominence
    return Peaks(places[stand_out], prominences[stand_out])


def _tops(curve: Float64[np.ndarray, " place"]) -> Int64[np.ndarray, " peak"]:
    """Give the places where a rise ends and a fall begins; the ends of the curve are none."""
    steps = np.diff(curve)
    moves = np.flatnonzero(steps)
    turns = np.flatnonzero((steps[moves[:-1]] > 0) & (steps[moves[1:]] < 0))
    return (moves[turns] + 1 + moves[turns + 1]) // 2


def _bases(heights: Sequence[float], lows: Sequence[float]) -> list[float]:
    """Give the lowest point between each peak and the last higher one before it, `lows` being those between peaks."""
    higher: list[tuple[float, float]] = []  # peaks that a later one may meet, each with its base
    found = []
    for height, low in zip(heights, lows, strict=True):
        base = low
        while higher and higher[-1][0] <= height:
            base = min(base, higher.pop()[1])
        higher.append((height, base))
        found.append(base)
    return found
