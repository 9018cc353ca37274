"""What a position scheme is: it says what is added to a token for where it stands."""

from abc import ABC, abstractmethod

from jaxtyping import Float, Int64
from torch import Tensor, nn


class PositionEncoding(nn.Module, ABC):
    """Gives what is added to the tokens at whole-numbered positions, counted from 0."""

    @abstractmethod
    def forward(self, positions: Int64[Tensor, " token"]) -> Float[Tensor, "token d_model"]:
        """Give one vector a position.

        Raises:
            ContextTooLong: a position lies beyond what the scheme knows.
        """
