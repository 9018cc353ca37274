"""The closed-form linear forecaster: one ridge regression from a context to a whole horizon, shared by all series.

It is a baseline (`forecast.baselines.linear`) and the draft that a Transformer may refine (`forecast.model.draft`).
Source: Toner & Darlow, "An Analysis of Linear Time Series Forecasting Models" (2024): the linear models of the field
are one class whose best member has a closed form.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from forecast.errors import TrainingError
from forecast.frames.panel import Panel
from forecast.observed import mean_observed, newest_observed

Measure = Literal["series", "window"]
"""What a training window is measured in: the spread of its series, or how far its own past lies from its level."""

FLAT = 1e-6  # of a series' unit: windows that move less would be blown up to weigh as much as real movement

Level = Literal["mean", "newest"]
"""What a window is measured from: the mean of its past, or its newest observed value, for series that wander."""

LEVELS = {"mean": mean_observed, "newest": newest_observed}

CHUNK = 4096  # windows a step of the normal equations: about 20 MB at 600 steps a window


@dataclass(frozen=True, eq=False)
class LinearMap:
    """A linear map from the context to the horizon, both as distances from the window's level."""

    weights: Float64[Tensor, "context horizon"]
    level: Level = "mean"

    def forecast(
        self,
        past: Float64[Tensor, "batch any_context"],
        past_observed: Bool[Tensor, "batch any_context"],
        *,
        horizon: int,
    ) -> Float64[Tensor, "batch {horizon}"]:
        """Forecast any horizon from any context, in the units of `past`.

        A horizon longer than the fitted one is rolled out in blocks of it; a shorter context counts as missing on the
        left, and missing steps count as the level.
        """
        blocks: list[Tensor] = []
        while sum(block.shape[1] for block in blocks) < horizon:
            block = self._block(past, past_observed)
            blocks.append(block)
            past = torch.cat([past, block], dim=1)
            past_observed = torch.cat([past_observed, torch.ones_like(block, dtype=torch.bool)], dim=1)
        return torch.cat(blocks, dim=1)[:, :horizon] if blocks else past.new_zeros(len(past), 0)

    def _block(self, past: Tensor, past_observed: Tensor) -> Tensor:
        length = len(self.weights)
        past, past_observed = past[:, -length:], past_observed[:, -length:]
        level = LEVELS[self.level](past, past_observed)
        centred = (past - level) * past_observed
        return level + centred @ self.weights[length - past.shape[1] :]


def fit_linear(
    panel: Panel,
    *,
    ends: Int64[np.ndarray, " series"],
    units: Float64[np.ndarray, " series"],
    context_length: int,
    horizon: int,
    strength: float,
    measure: Measure = "series",
    level: Level = "mean",
) -> LinearMap:
    """Solve the ridge regression over every window that ends at or before `ends`, steps from the start of each series.

    Each series is measured in its unit of `units`, or each window in its own past's distance, so that calm windows
    weigh as much as wild ones; the penalty is `strength` times the number of windows. Windows with a missing target are
    left out. Series shorter than a window take part with contexts padded on the left.

    Raises:
        TrainingError: no series holds a window with a complete target.
    """
    gram = np.zeros((context_length, context_length))
    cross = np.zeros((context_length, horizon))
    num_windows = 0
    for number, end in enumerate(ends):
        place = slice(int(panel.offsets[number]), int(panel.offsets[number] + end))
        values, observed = panel.values[place] / units[number], panel.observed[place]
        windows = _centred_windows(values, observed, context_length, horizon, level=level)
        for past, future in windows if measure == "series" else map(_in_own_spread, windows):
            gram += past.T @ past
            cross += past.T @ future
            num_windows += len(past)
    if num_windows == 0:
        raise TrainingError(
            f"the linear map finds no training window with {horizon} observed target steps; "
            f"give longer series or a shorter horizon, or leave the draft out"
        )
    gram[np.diag_indices_from(gram)] += strength * num_windows
    return LinearMap(weights=torch.from_numpy(np.linalg.solve(gram, cross)), level=level)


def _centred_windows(
    values: Float64[np.ndarray, " step"],
    observed: Bool[np.ndarray, " step"],
    context_length: int,
    horizon: int,
    *,
    level: Level,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give the windows of one series in chunks, as distances from their level."""
    window = context_length + horizon
    if len(values) < window:
        values = np.pad(values, (context_length - 1, 0))
        observed = np.pad(observed, (context_length - 1, 0))
    if len(values) < window:
        return
    steps = np.lib.stride_tricks.sliding_window_view(values, window)
    seen = np.lib.stride_tricks.sliding_window_view(observed, window)
    for first in range(0, len(steps), CHUNK):
        yield _centre(steps[first : first + CHUNK], seen[first : first + CHUNK], context_length, level=level)


def _centre(steps: np.ndarray, seen: np.ndarray, context_length: int, *, level: Level) -> tuple[np.ndarray, np.ndarray]:
    usable = seen[:, context_length:].all(axis=1) & seen[:, :context_length].any(axis=1)
    past, past_seen = steps[usable, :context_length], seen[usable, :context_length]
    own = LEVELS[level](torch.from_numpy(past), torch.from_numpy(past_seen)).numpy()
    return (past - own) * past_seen, steps[usable, context_length:] - own


def _in_own_spread(window: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Divide windows by the root mean square of their past, and leave out those that do not move."""
    past, future = window
    spread = np.sqrt(np.square(past).mean(axis=1, keepdims=True))
    moves = spread[:, 0] > FLAT
    return past[moves] / spread[moves], future[moves] / spread[moves]
