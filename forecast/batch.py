"""The one place that cuts a window from a series, for training and for serving alike."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from forecast.frames.panel import Panel


@dataclass(frozen=True)
class Batch:
    """Windows of equal shape: `past` ends right before the origin, `future` begins at it.

    Values are raw, in the caller's units and float64, so that statistics lose nothing; steps outside a series or
    without an observation hold 0 and are marked False in the `observed` masks.
    """

    past: Float64[Tensor, "batch context"]
    past_observed: Bool[Tensor, "batch context"]
    future: Float64[Tensor, "batch horizon"]
    future_observed: Bool[Tensor, "batch horizon"]
    unit: Float64[Tensor, " batch"]
    """The spread of the window's series on its training part: losses are measured in it. One where unknown."""

    def to(self, device: torch.device | str) -> Self:
        """Give the batch on another device."""
        return type(self)(**{name: tensor.to(device, non_blocking=True) for name, tensor in vars(self).items()})


def cut_windows(
    panel: Panel,
    *,
    series: Int64[np.ndarray, " batch"],
    origins: Int64[np.ndarray, " batch"],
    context_length: int,
    horizon: int,
    units: Float64[np.ndarray, " series"] | None = None,
    ends: Int64[np.ndarray, " series"] | None = None,
) -> Batch:
    """Cut one window a row in a single vectorised step.

    `series` numbers the series in the panel; `origins` counts steps from the start of each to the first step forecast
    (0 to its length). A context that reaches before the start of its series is padded on the left, a future that
    reaches past its end on the right, both unobserved. `ends` ends each series earlier, so that training sees nothing
    of what is held out.
    """
    steps = origins[:, None] + np.arange(-context_length, horizon)
    end = (panel.lengths if ends is None else ends)[series, None]
    inside = (steps >= 0) & (steps < end)
    rows = np.where(inside, panel.offsets[series, None] + steps, 0)
    observed = panel.observed[rows] & inside
    values = np.where(observed, panel.values[rows], 0.0)
    unit = np.ones(len(series)) if units is None else units[series]
    return Batch(
        past=torch.from_numpy(values[:, :context_length]),
        past_observed=torch.from_numpy(observed[:, :context_length]),
        future=torch.from_numpy(values[:, context_length:]),
        future_observed=torch.from_numpy(observed[:, context_length:]),
        unit=torch.from_numpy(unit),
    )


def cut_newest(panel: Panel, *, series: Int64[np.ndarray, " batch"], context_length: int) -> Batch:
    """Cut the windows whose past is the newest `context_length` steps of a series and whose future is empty."""
    origins = panel.lengths[series]
    return cut_windows(panel, series=series, origins=origins, context_length=context_length, horizon=0)
