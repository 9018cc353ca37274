"""No position information: the encoder then treats its tokens as a set."""

from typing import Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from forecast.config import config
from forecast.position.base import PositionEncoding


@config
class NoPosition:
    """Tokens carry no position."""

    kind: Literal["none"] = "none"

    def build(self, d_model: int, *, num_positions: int) -> PositionEncoding:
        """Give the module; the number of trained positions does not matter to it."""
        return ZeroEncoding(d_model)


class ZeroEncoding(PositionEncoding):
    """Adds nothing."""

    def __init__(self, d_model: int):
        super().__init__()
        self.d_model = d_model

    def forward(self, positions: Int64[Tensor, " token"]) -> Float[Tensor, "token d_model"]:
        """Give zeros."""
        return torch.zeros(len(positions), self.d_model, device=positions.device)
