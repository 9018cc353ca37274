"""Runs of equal length cut out of a long array at once: what makes a batch of windows as fast as copying memory."""

import numpy as np
from jaxtyping import Int64, Shaped

Places = Int64[np.ndarray, " batch"]


def gather_runs(
    steps: Shaped[np.ndarray, " step"], *, starts: Places, lows: Places, highs: Places, length: int
) -> Shaped[np.ndarray, "batch {length}"]:
    """Give `steps[start:start + length]` of each row; what lies outside the row's `[low, high)` is 0 (False).

    Runs may begin before the array and end after it. The result is owned by the caller.
    """
    reach = len(steps) - length
    if reach < 0 or length == 0:
        return _gather_short(steps, starts=starts, lows=lows, highs=highs, length=length)
    # Indexing a strided view copies each run in one piece; an index a step would cost eight times as much.
    safe = np.clip(starts, 0, reach)
    runs = np.lib.stride_tricks.sliding_window_view(steps, length)[safe]
    crossing = np.flatnonzero((starts < lows) | (starts + length > highs))
    if len(crossing):
        chosen = {"starts": starts[crossing], "lows": lows[crossing], "highs": highs[crossing]}
        runs[crossing] = _gather_short(steps, **chosen, length=length)
    return runs


def _gather_short(
    steps: Shaped[np.ndarray, " step"], *, starts: Places, lows: Places, highs: Places, length: int
) -> Shaped[np.ndarray, "batch {length}"]:
    places = starts[:, None] + np.arange(length)
    inside = (places >= lows[:, None]) & (places < highs[:, None])
    if not len(steps):
        return np.zeros(inside.shape, dtype=steps.dtype)
    return np.where(inside, steps[np.where(inside, places, 0)], np.zeros((), dtype=steps.dtype))
