"""What a head is: the meaning of the decoder's last channel, its loss, and the forecast read from it.

The first parameter of every head is a location, to which a draft may be added; the rest describe the spread.
"""

from abc import ABC, abstractmethod
from itertools import pairwise

import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor

from forecast.errors import QuantilesUnavailable


class Head(ABC):
    """Reads `parameters` [batch, horizon, parameter] in the units of the scaled window."""

    @property
    @abstractmethod
    def num_parameters(self) -> int:
        """Number of values the network gives a step."""

    @property
    @abstractmethod
    def default_quantile_levels(self) -> tuple[float, ...]:
        """Levels forecast when none are asked for; empty for a head that forecasts points."""

    @abstractmethod
    def loss(
        self,
        parameters: Float[Tensor, "batch horizon parameter"],
        actual: Float[Tensor, "batch horizon"],
        unit: Float[Tensor, "batch 1"],
    ) -> Float[Tensor, "batch horizon"]:
        """Give the loss of every step; `unit` is the window's scale in the unit that losses are measured in."""

    @abstractmethod
    def mean(self, parameters: Float[Tensor, "batch horizon parameter"]) -> Float[Tensor, "batch horizon"]:
        """Give the mean of the forecast distribution, or the point forecast."""

    def median(self, parameters: Float[Tensor, "batch horizon parameter"]) -> Float[Tensor, "batch horizon"]:
        """Give the value that decoding feeds back: the location."""
        return parameters[..., 0]

    @abstractmethod
    def quantiles(
        self, parameters: Float[Tensor, "batch horizon parameter"], levels: tuple[float, ...]
    ) -> Float[Tensor, "batch horizon quantile"]:
        """Give the quantiles at any levels in (0, 1), ascending in the order of `levels`.

        Raises:
            QuantilesUnavailable: the head forecasts points only.
        """

    @abstractmethod
    def sample(
        self, parameters: Float[Tensor, "*#rows horizon parameter"], level: Float64[Tensor, "*#rows horizon"]
    ) -> Float[Tensor, "*rows horizon"]:
        """Give the quantile of every step at a level of its own; where levels are drawn evenly from (0, 1), a sample.

        By way of levels a draw means the same whatever is drawn beside it, and moves little where parameters do.

        Raises:
            QuantilesUnavailable: the head forecasts points only.
        """


class PointHead(Head):
    """A head of one parameter: the point itself."""

    @property
    def num_parameters(self) -> int:
        """One: the point."""
        return 1

    @property
    def default_quantile_levels(self) -> tuple[float, ...]:
        """None: a point says nothing of its spread."""
        return ()

    def mean(self, parameters: Float[Tensor, "batch horizon 1"]) -> Float[Tensor, "batch horizon"]:
        """Give the point."""
        return parameters[..., 0]

    def quantiles(
        self, parameters: Float[Tensor, "batch horizon 1"], levels: tuple[float, ...]
    ) -> Float[Tensor, "batch horizon quantile"]:
        """Give nothing for no levels, and refuse any level."""
        if levels:
            raise QuantilesUnavailable(
                f"quantiles {levels} were asked of a model trained on points; ask for none, or train with head "
                f"'quantile' or 'student_t'"
            )
        return parameters[..., :0]

    def sample(self, parameters: Tensor, level: Tensor) -> Tensor:
        """Refuse: a point has no spread to draw from."""
        raise QuantilesUnavailable(
            "sample paths were asked of a model trained on points; ask for none, or train with head 'quantile' or "
            "'student_t'"
        )


def in_order(levels: tuple[float, ...]) -> bool:
    """Tell whether quantile levels ascend inside (0, 1)."""
    return all(low < high for low, high in pairwise((0.0, *levels, 1.0)))


def masked_mean(
    loss: Float[Tensor, "batch horizon"],
    observed: Bool[Tensor, "batch horizon"],
    *,
    weight: Float[Tensor, "batch horizon"] | None = None,
) -> Float[Tensor, ""]:
    """Give the mean over observed steps, each counted `weight` times; 0 if none counts, so that no batch stops a run.

    Weights count against each other within the batch: doubling all of them changes nothing, and what stands in a step
    of weight 0 does not matter.
    """
    if weight is None:
        return torch.where(observed, loss, 0.0).sum() / observed.sum().clamp(min=1)
    counts = observed & (weight > 0)
    weight = torch.where(counts, weight, 0.0)
    # In shares of the largest, so that neither a sum of large weights overflows nor one of small ones vanishes.
    weight = (weight / weight.amax().clamp(min=torch.finfo(weight.dtype).tiny)).to(loss.dtype)
    total = weight.sum()
    return (torch.where(counts, loss, 0.0) * weight).sum() / torch.where(total > 0, total, 1.0)
