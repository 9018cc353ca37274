"""The full pattern: every query sees every key."""

from typing import Literal

import torch
from jaxtyping import Bool
from torch import Tensor

from forecast.attention.patterns.base import Pattern, Positions
from forecast.config import config


@config
class Full(Pattern):
    """Every query sees every key."""

    kind: Literal["full"] = "full"

    @property
    def looks_ahead(self) -> bool:
        """Yes."""
        return True

    def may_look(self, query: Positions, key: Positions, *, num_keys: int) -> Bool[Tensor, "..."]:
        """Hide nothing."""
        return torch.ones(torch.broadcast_shapes(query.shape, key.shape), dtype=torch.bool, device=key.device)
