"""The learned relative bias: one trained number a head and bucket of distances."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from forecast.attention.biases.base import Bias, Places


@dataclass(frozen=True, eq=False)
class BucketBias(Bias):
    """Buckets as in Raffel et al., "T5" (2020), section 2.1: near distances one each, far ones by their logarithm.

    Half of the buckets are for keys at or before the query, half for those after it; what lies beyond `reach` shares
    the last bucket of its side.
    """

    table: Float[Tensor, "head bucket"]
    reach: int

    def score(self, query: Places, key: Places) -> Float[Tensor, "head ..."]:
        """Look the bias of each pair of places up."""
        return self.table[:, self.bucket(key - query)]

    def bucket(self, distance: Float[Tensor, "..."]) -> Int64[Tensor, "..."]:
        """Give the bucket of each distance from query to key."""
        side = self.table.shape[1] // 2
        exact = side // 2
        far = distance.abs()
        spread = torch.log(far.clamp(min=exact) / exact) / math.log(max(self.reach, exact + 1) / exact)
        logarithmic = (exact + spread * (side - exact)).clamp(max=side - 1)
        return (torch.where(far < exact, far, logarithmic)).to(torch.int64) + side * (distance > 0)
