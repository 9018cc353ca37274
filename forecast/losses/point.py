"""Point heads: squared, absolute and Huber error."""

from typing import Literal

from jaxtyping import Float
from pydantic import PositiveFloat
from torch import Tensor
from torch.nn import functional

from forecast.config import config
from forecast.losses.base import PointHead


@config
class SquaredError(PointHead):
    """Mean squared error: the forecast tends to the mean."""

    kind: Literal["mse"] = "mse"

    def loss(
        self, parameters: Float[Tensor, "batch horizon 1"], actual: Float[Tensor, "batch horizon"], unit: Tensor
    ) -> Float[Tensor, "batch horizon"]:
        """Give the squared error in units of the loss."""
        return ((parameters[..., 0] - actual) * unit).square()


@config
class AbsoluteError(PointHead):
    """Mean absolute error: the forecast tends to the median."""

    kind: Literal["mae"] = "mae"

    def loss(
        self, parameters: Float[Tensor, "batch horizon 1"], actual: Float[Tensor, "batch horizon"], unit: Tensor
    ) -> Float[Tensor, "batch horizon"]:
        """Give the absolute error in units of the loss."""
        return ((parameters[..., 0] - actual) * unit).abs()


@config
class HuberError(PointHead):
    """Squared near zero, absolute beyond `delta` (Huber 1964)."""

    kind: Literal["huber"] = "huber"

    delta: PositiveFloat = 1.0
    """Where the squared part ends, in units of the loss."""

    def loss(
        self, parameters: Float[Tensor, "batch horizon 1"], actual: Float[Tensor, "batch horizon"], unit: Tensor
    ) -> Float[Tensor, "batch horizon"]:
        """Give the Huber error in units of the loss."""
        return functional.huber_loss(parameters[..., 0] * unit, actual * unit, reduction="none", delta=self.delta)
