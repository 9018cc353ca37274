"""ALiBi: nothing is added to tokens; each head lowers the scores of far keys along a slope of its own."""

from typing import Literal

import torch
from pydantic import NonNegativeInt
from torch import Tensor, nn

from forecast.attention.biases import Bias, SlopeBias
from forecast.attention.relation import Relation
from forecast.config import config
from forecast.position.base import Scheme


@config
class Alibi(Scheme):
    """Slopes in a geometric sequence over the heads (Press et al. 2022, section 3); any length can follow training."""

    kind: Literal["alibi"] = "alibi"

    num_flat_heads: NonNegativeInt = 0
    """Heads, the last ones, without a slope: seasonal series need some that look far without a price."""

    learned: bool = False
    """Whether training may move the slopes."""

    def relate(self, num_heads: int, *, head_dim: int) -> Relation:
        """Give the slopes of one attention."""
        return AlibiRelation(alibi_slopes(num_heads, num_flat=min(self.num_flat_heads, num_heads)), self.learned)


class AlibiRelation(Relation):
    """Holds the slopes of one attention: a parameter, or part of the configuration."""

    slopes: Tensor

    def __init__(self, slopes: Tensor, learned: bool):
        super().__init__()
        if learned:
            self.slopes = nn.Parameter(slopes)
        else:
            self.register_buffer("slopes", slopes, persistent=False)

    def bias(self) -> Bias:
        """Give the bias along the slopes."""
        return SlopeBias(self.slopes)


def alibi_slopes(num_heads: int, *, num_flat: int = 0) -> Tensor:
    """Give 2^(-8 k / n) for the k-th of n sloped heads, then 0 for the flat ones."""
    num_sloped = num_heads - num_flat
    powers = torch.arange(1, num_sloped + 1) / max(num_sloped, 1)
    return torch.cat([torch.exp2(-8 * powers), torch.zeros(num_flat)])
