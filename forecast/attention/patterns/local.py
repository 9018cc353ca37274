"""The local pattern: a query sees its neighbours, so that the cost is linear in the length."""

from typing import Literal

from jaxtyping import Bool
from pydantic import NonNegativeInt
from torch import Tensor

from forecast.attention.patterns.base import Pattern, Positions
from forecast.config import config


@config
class Local(Pattern):
    """A sliding window (Beltagy et al., "Longformer" 2020, section 3.1); `right: 0` makes it causal."""

    kind: Literal["local"] = "local"

    left: NonNegativeInt = 64
    """Keys seen before a query's own position."""

    right: NonNegativeInt = 64
    """Keys seen after it."""

    @property
    def looks_ahead(self) -> bool:
        """Where there is a right side."""
        return self.right > 0

    def may_look(self, query: Positions, key: Positions, *, num_keys: int) -> Bool[Tensor, "..."]:
        """Hide what lies outside the window."""
        distance = key - query
        return (distance >= -self.left) & (distance <= self.right)
