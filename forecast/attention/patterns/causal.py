"""The causal pattern: no query sees what comes after it."""

from typing import Literal

from jaxtyping import Bool
from torch import Tensor

from forecast.attention.patterns.base import Pattern, Positions
from forecast.config import config


@config
class Causal(Pattern):
    """A query sees the keys at or before its own position."""

    kind: Literal["causal"] = "causal"

    @property
    def looks_ahead(self) -> bool:
        """No."""
        return False

    def may_look(self, query: Positions, key: Positions, *, num_keys: int) -> Bool[Tensor, "..."]:
        """Hide every later key."""
        return key <= query
