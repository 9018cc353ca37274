"""The bias of ALiBi: the farther a key, the lower its score, along a slope a head."""

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor

from forecast.attention.biases.base import Bias, Places


@dataclass(frozen=True, eq=False)
class SlopeBias(Bias):
    """-slope * |query - key| (Press et al., "Train Short, Test Long" 2022, section 3)."""

    slopes: Float[Tensor, " head"]

    def score(self, query: Places, key: Places) -> Float[Tensor, "head ..."]:
        """Give the bias of each pair of places."""
        distance = (query - key).abs()
        return -self.slopes.view(-1, *[1] * distance.ndim) * distance
