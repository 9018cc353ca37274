"""The draft: a closed-form forecast of the horizon that the decoder is given and refines."""

from typing import Literal

import torch
from jaxtyping import Bool, Float64
from pydantic import PositiveFloat, PositiveInt
from torch import Tensor, nn

from forecast.config import config
from forecast.errors import TrainingError
from forecast.linear import Level, LinearMap, Measure


@config
class Ridge:
    """A ridge regression over the context, solved on the training windows (`forecast.linear`)."""

    kind: Literal["ridge"] = "ridge"

    strength: PositiveFloat = 0.1
    """Penalty in units of the number of training windows, for series or windows measured in their own spread."""

    measure: Measure = "window"
    """What training windows are measured in; by window, calm stretches weigh as much as wild ones."""

    level: Level = "mean"
    """What windows are measured from; the newest value draws the draft of a wandering series towards staying there."""

    context_length: PositiveInt | None = None
    """Newest steps that the draft is made from; the model's whole context where not given."""


class Draft(nn.Module):
    """Holds the solved map among the model's weights; refuses to work before it is solved."""

    weights: Tensor

    def __init__(self, *, context_length: int, horizon: int, level: Level):
        super().__init__()
        self.level: Level = level
        self.register_buffer("weights", torch.full((context_length, horizon), torch.nan, dtype=torch.float64))

    def install(self, solved: LinearMap) -> None:
        """Take the solved map over."""
        self.weights.copy_(solved.weights)

    def forward(
        self, past: Float64[Tensor, "batch context"], observed: Bool[Tensor, "batch context"], *, horizon: int
    ) -> Float64[Tensor, "batch {horizon}"]:
        """Draft the horizon in the units of `past`.

        Raises:
            TrainingError: the map has not been solved.
        """
        if bool(self.weights[0, 0].isnan()):
            raise TrainingError("the draft is not solved yet; fit the model, or install a solved map, before using it")
        return LinearMap(self.weights, self.level).forecast(past, observed, horizon=horizon)
