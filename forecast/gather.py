"""Runs of equal length cut out of a long array at once: what makes a batch of windows as fast as copying memory."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Int64, Shaped
from torch import Tensor

Places = Int64[np.ndarray, " batch"]


@dataclass(frozen=True, eq=False)
class Runs:
    """Where runs lie in an array, one a row. They may begin before the array and end after it."""

    starts: Places
    lows: Places
    """First place of each row that may be read; what lies before it is 0 (False)."""

    highs: Places
    """First place after those of each row that may be read."""

    length: int

    @property
    def inside(self) -> Bool[np.ndarray, "batch length"]:
        """True for the steps that may be read."""
        places = self.starts[:, None] + np.arange(self.length)
        return (places >= self.lows[:, None]) & (places < self.highs[:, None])

    def without(self, num_first: int) -> "Runs":
        """Give the runs without their first steps."""
        return Runs(self.starts + num_first, self.lows, self.highs, self.length - num_first)

    def rows(self, chosen: Int64[np.ndarray, " chosen"]) -> "Runs":
        """Give the chosen runs."""
        return Runs(self.starts[chosen], self.lows[chosen], self.highs[chosen], self.length)


Gather = Callable[[np.ndarray, Runs], Tensor]
"""Gives the runs of a column of a panel, which it may hold on a device."""


def gather_on_host(steps: Shaped[np.ndarray, " step"], runs: Runs) -> Shaped[Tensor, "batch length"]:
    """Give the runs of an array in main memory, or of a file mapped into it."""
    return torch.from_numpy(gather_runs(steps, runs))


def gather_runs(steps: Shaped[np.ndarray, " step"], runs: Runs) -> Shaped[np.ndarray, "batch length"]:
    """Give the runs of an array; what lies outside a row's `[low, high)` is 0 (False). The caller owns the result."""
    reach = len(steps) - runs.length
    if reach < 0 or runs.length == 0:
        return _gather_steps(steps, runs)
    # Indexing a strided view copies each run in one piece; an index a step would cost eight times as much.
    gathered = np.lib.stride_tricks.sliding_window_view(steps, runs.length)[np.clip(runs.starts, 0, reach)]
    crossing = np.flatnonzero((runs.starts < runs.lows) | (runs.starts + runs.length > runs.highs))
    if len(crossing):
        gathered[crossing] = _gather_steps(steps, runs.rows(crossing))
    return gathered


def gather_tensor(steps: Shaped[Tensor, " step"], runs: Runs) -> Shaped[Tensor, "batch length"]:
    """Give the same runs of a tensor, on its device."""
    # An index a step: a device has the bandwidth, and one kernel is launched where runs cross a border or not.
    starts, lows, highs = torch.from_numpy(np.stack([runs.starts, runs.lows, runs.highs])).to(steps.device)[..., None]
    places = starts + torch.arange(runs.length, device=steps.device)
    inside = (places >= lows) & (places < highs)
    if not len(steps):
        return torch.zeros_like(inside, dtype=steps.dtype)
    return torch.where(inside, steps[torch.where(inside, places, 0)], torch.zeros((), dtype=steps.dtype).to(steps))


def _gather_steps(steps: Shaped[np.ndarray, " step"], runs: Runs) -> Shaped[np.ndarray, "batch length"]:
    inside = runs.inside
    if not len(steps):
        return np.zeros(inside.shape, dtype=steps.dtype)
    places = runs.starts[:, None] + np.arange(runs.length)
    return np.where(inside, steps[np.where(inside, places, 0)], np.zeros((), dtype=steps.dtype))
