"""What a bias is: a number a head and distance, added to the scores before the softmax."""

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor

Places = Float[Tensor, "..."]
"""Where tokens stand, in tokens from the oldest key; a query of another sequence may stand between two keys."""


class Bias(ABC):
    """Gives what is added to scaled scores; holds the tensors that training may move."""

    @abstractmethod
    def score(self, query: Places, key: Places) -> Float[Tensor, "head ..."]:
        """Give the bias of each pair of places for every head; places are broadcast against each other."""
