"""Learned relative positions: a trained number a head and bucket of distances is added to the scores."""

from typing import Annotated, Literal

import torch
from pydantic import Field, PositiveInt
from torch import nn

from forecast.attention.biases import Bias, BucketBias
from forecast.attention.relation import Relation
from forecast.config import config
from forecast.position.base import Scheme


@config
class Relative(Scheme):
    """Buckets that grow with the distance (Raffel et al., "T5" 2020, section 2.1)."""

    kind: Literal["relative"] = "relative"

    num_buckets: Annotated[int, Field(ge=4, multiple_of=2)] = 32
    """Half of them for keys at or before the query."""

    reach: PositiveInt = 128
    """Tokens from where on all distances are one bucket."""

    def relate(self, num_heads: int, *, head_dim: int) -> Relation:
        """Give the table of one attention; all distances are alike before training."""
        return RelativeRelation(num_heads, self.num_buckets, reach=self.reach)


class RelativeRelation(Relation):
    """Holds the table of one attention."""

    def __init__(self, num_heads: int, num_buckets: int, *, reach: int):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(num_heads, num_buckets))
        self.reach = reach

    def bias(self) -> Bias:
        """Give the bias out of the table."""
        return BucketBias(self.table, self.reach)
