"""Learned positions: one trained vector a position, and a clear error beyond the last."""

from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from forecast.config import config
from forecast.errors import ContextTooLong
from forecast.position.base import PositionEncoding, Scheme


@config
class Learned(Scheme):
    """A table of trained vectors."""

    kind: Literal["learned"] = "learned"
    adds: ClassVar[bool] = True

    def build(self, d_model: int, *, num_positions: int) -> PositionEncoding:
        """Give a table for the positions seen in training."""
        return LearnedEncoding(d_model, num_positions=num_positions)


class LearnedEncoding(PositionEncoding):
    """Looks positions up in a table."""

    def __init__(self, d_model: int, *, num_positions: int):
        super().__init__()
        self.table = nn.Embedding(num_positions, d_model)
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, positions: Int64[Tensor, " token"]) -> Float[Tensor, "token d_model"]:
        """Give the vectors of the positions."""
        if not torch.compiler.is_exporting():  # what is exported has the trained length
            self._refuse_beyond(int(positions.max()) + 1)
        return self.table(positions)

    def _refuse_beyond(self, needed: int) -> None:
        known = self.table.num_embeddings
        if needed > known:
            raise ContextTooLong(
                f"learned positions know {known} tokens and {needed} were given; shorten the context to what the model "
                f"was trained with, or train with position 'sinusoidal', which has no end"
            )
