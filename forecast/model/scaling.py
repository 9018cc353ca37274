"""Reversible scaling of a window by its own past, so that forecast(a x + b) = a forecast(x) + b.

Source: Kim et al., "Reversible Instance Normalization" (2022), without the trained affine part, which would break it.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from jaxtyping import Bool, Float, Float32, Float64
from pydantic import PositiveInt
from torch import Tensor

from forecast.config import Tagged, config
from forecast.observed import mean_observed, newest_observed

FLAT = 1e-9  # spread below this share of the largest value is rounding of float64, not movement


@dataclass(frozen=True, eq=False)
class Scale:
    """Where a window stands and how far it swings, in the units of the values measured."""

    level: Float64[Tensor, "batch #step"]
    spread: Float64[Tensor, "batch 1"]
    """0 for a window that does not move: whatever the network says, its forecast is the level itself."""

    @property
    def moves(self) -> Bool[Tensor, "batch 1"]:
        """True for windows that have a spread to be scaled by."""
        return self.spread > 0

    def apply(self, values: Float64[Tensor, "batch step"]) -> Float32[Tensor, "batch step"]:
        """Scale values for the network; a window that does not move is only centred, and bounded."""
        scaled = (values - self.level) / torch.where(self.moves, self.spread, 1.0)
        return torch.where(self.moves, scaled, scaled.clamp(-1, 1)).float()

    def undo(self, scaled: Float[Tensor, "batch *step"]) -> Float64[Tensor, "batch *step"]:
        """Bring values of the network back to the units of the values measured."""
        further = [1] * (scaled.ndim - 2)
        level, spread = (part.view(*part.shape, *further) for part in (self.level, self.spread))
        return level + spread * scaled.double()

    def summed(self, counts: Float64[Tensor, "#batch #step"]) -> "Scale":
        """Give the scale of steps each of which sums up so many of the steps measured: their levels add up."""
        return Scale(level=self.level * counts, spread=self.spread)


@config
class Measured(ABC):
    """Measures the observed past, or its newest steps alone."""

    newest: PositiveInt | None = None
    """Steps of the past, the newest, that are measured: a context longer than in training then leaves the scale."""

    def measure(self, past: Float64[Tensor, "batch context"], observed: Bool[Tensor, "batch context"]) -> Scale:
        """Measure each window; one whose newest steps do not move is measured as a whole."""
        whole = self._measure(past, observed)
        if self.newest is None or self.newest >= past.shape[1]:
            return whole
        recent = self._measure(past[:, -self.newest :], observed[:, -self.newest :])
        return Scale(
            level=torch.where(recent.moves, recent.level, whole.level),
            spread=torch.where(recent.moves, recent.spread, whole.spread),
        )

    @abstractmethod
    def _measure(self, past: Tensor, observed: Tensor) -> Scale:
        """Measure all steps given."""


@config
class MeanStd(Measured):
    """Level: the mean of the observed past. Spread: its standard deviation."""

    kind: Literal["mean_std"] = "mean_std"

    def _measure(self, past: Tensor, observed: Tensor) -> Scale:
        mean = mean_observed(past, observed)
        return _scale(past, observed, level=mean, mean=mean)


@config
class NewestStd(Measured):
    """Level: the newest observed value, for series that wander. Spread: the standard deviation of the observed past."""

    kind: Literal["newest_std"] = "newest_std"

    def _measure(self, past: Tensor, observed: Tensor) -> Scale:
        return _scale(past, observed, level=newest_observed(past, observed), mean=mean_observed(past, observed))


Scaling = Annotated[MeanStd | NewestStd, Tagged]


def _scale(past: Tensor, observed: Tensor, *, level: Tensor, mean: Tensor) -> Scale:
    deviations = (past - mean) * observed
    largest = (past * observed).abs().amax(dim=1, keepdim=True)
    # In units of the largest deviation, so that squares of values near 1e200 stay finite.
    reach = deviations.abs().amax(dim=1, keepdim=True).clamp(min=torch.finfo(past.dtype).tiny)
    spread = reach * mean_observed((deviations / reach).square(), observed).sqrt()
    moves = spread > FLAT * largest
    return Scale(
        level=torch.where(moves, level, newest_observed(past, observed)), spread=torch.where(moves, spread, 0.0)
    )
