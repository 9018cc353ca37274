"""Feed-forward layers: one file each, one line in the union."""

from typing import Annotated

from forecast.config import Tagged
from forecast.feedforward.perceptron import Gelu, Relu
from forecast.feedforward.swiglu import SwiGlu

FeedForward = Annotated[Gelu | Relu | SwiGlu, Tagged]

__all__ = ["FeedForward", "Gelu", "Relu", "SwiGlu"]
