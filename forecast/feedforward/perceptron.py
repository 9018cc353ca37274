"""The two-layer perceptron of the original Transformer, with GELU or ReLU."""

from typing import Literal

from pydantic import PositiveInt
from torch import nn

from forecast.config import config


@config
class Gelu:
    """Linear, GELU, linear (Hendrycks & Gimpel 2016)."""

    kind: Literal["gelu"] = "gelu"

    expansion: PositiveInt = 4
    """Width of the hidden layer in units of d_model."""

    def build(self, d_model: int, *, dropout: float) -> nn.Module:
        """Give the layer, [..., d_model] to [..., d_model]."""
        return _perceptron(d_model, self.expansion * d_model, nn.GELU(), dropout)


@config
class Relu:
    """Linear, ReLU, linear (Vaswani et al. 2017, equation 2)."""

    kind: Literal["relu"] = "relu"

    expansion: PositiveInt = 4
    """Width of the hidden layer in units of d_model."""

    def build(self, d_model: int, *, dropout: float) -> nn.Module:
        """Give the layer, [..., d_model] to [..., d_model]."""
        return _perceptron(d_model, self.expansion * d_model, nn.ReLU(), dropout)


def _perceptron(d_model: int, width: int, activation: nn.Module, dropout: float) -> nn.Module:
    return nn.Sequential(nn.Linear(d_model, width), activation, nn.Dropout(dropout), nn.Linear(width, d_model))
