"""What a pattern is: the written definition of who sees whom, which every kernel only computes."""

from abc import ABC, abstractmethod

from jaxtyping import Bool, Int64
from torch import Tensor

Positions = Int64[Tensor, "..."]
"""Places of tokens among the keys, counted from 0 at the oldest."""


class Pattern(ABC):
    """Tells who may look at whom; a frozen configuration, equal where its options are."""

    @property
    @abstractmethod
    def looks_ahead(self) -> bool:
        """Whether a query may see a key that stands behind its own position."""

    @abstractmethod
    def may_look(self, query: Positions, key: Positions, *, num_keys: int) -> Bool[Tensor, "..."]:
        """Tell for each pair of positions whether the query sees the key; both are broadcast against each other."""
