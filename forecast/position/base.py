"""What a position scheme is: what is added to a token for where it stands, or how tokens stand to each other."""

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from forecast.attention.relation import Relation


class PositionEncoding(nn.Module, ABC):
    """Gives what is added to the tokens at whole-numbered positions, counted from 0."""

    @abstractmethod
    def forward(self, positions: Int64[Tensor, " token"]) -> Float[Tensor, "token d_model"]:
        """Give one vector a position.

        Raises:
            ContextTooLong: a position lies beyond what the scheme knows.
        """


class ZeroEncoding(PositionEncoding):
    """Adds nothing: there is no scheme, or it acts inside attention."""

    def __init__(self, d_model: int):
        super().__init__()
        self.d_model = d_model

    def forward(self, positions: Int64[Tensor, " token"]) -> Float[Tensor, "token d_model"]:
        """Give zeros."""
        return torch.zeros(len(positions), self.d_model, device=positions.device)


class Scheme:
    """A position scheme: by itself it neither adds to tokens nor knows of distances."""

    adds: ClassVar[bool] = False
    """Whether what it adds to tokens tells them apart."""

    def build(self, d_model: int, *, num_positions: int) -> PositionEncoding:
        """Give what is added to the tokens; `num_positions` are seen in training."""
        return ZeroEncoding(d_model)

    def relate(self, num_heads: int, *, head_dim: int) -> Relation:
        """Give what one attention knows of the distances between its tokens."""
        return Relation()
