"""The local pattern: a query sees its neighbours, so that the cost is linear in the length."""

from typing import Literal

import torch
from jaxtyping import Bool
from pydantic import NonNegativeInt
from torch import Tensor

from forecast.attention.patterns.base import Positions
from forecast.attention.patterns.blocked import Blocked, Grid, Run, window, window_width
from forecast.config import config


@config
class Local(Blocked):
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

    @property
    def knows_distance_alone(self) -> bool:
        """Yes."""
        return True

    def num_apart(self, num_keys: int) -> int:
        """None."""
        return 0

    def grid(self, num_queries: int, num_keys: int) -> Grid:
        """Begin at the first query."""
        width = min(num_queries, window_width(self.left + self.right))
        return Grid.over(num_queries, num_keys, width=width, edge=num_keys - num_queries)

    def runs(self, grid: Grid, num_keys: int, *, device: torch.device) -> tuple[Run, ...]:
        """Name the window."""
        return (window(self.left, self.right, grid=grid, device=device),)
