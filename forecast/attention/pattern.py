"""The written definition of who sees whom: every kernel only computes it."""

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from forecast.config import config


@config
class Full:
    """Every query sees every key."""

    kind: Literal["full"] = "full"

    def may_look(self, query: Int64[Tensor, "query 1"], key: Int64[Tensor, "1 key"]) -> Bool[Tensor, "query key"]:
        """Tell for positions of queries and keys who may look at whom."""
        return torch.ones(len(query), key.shape[1], dtype=torch.bool, device=key.device)


@config
class Causal:
    """A query sees the keys at or before its own position."""

    kind: Literal["causal"] = "causal"

    def may_look(self, query: Int64[Tensor, "query 1"], key: Int64[Tensor, "1 key"]) -> Bool[Tensor, "query key"]:
        """Tell for positions of queries and keys who may look at whom."""
        return key <= query


Pattern = Full | Causal


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """One attention, as every kernel gets it.

    Queries stand at the last positions of the keys (aligned at the bottom right), so that a cached decoding step and
    the full pass are the same definition.
    """

    query: Tensor
    """[batch, head, query, key_dim]"""
    key: Tensor
    """[batch, head, key, key_dim]"""
    value: Tensor
    """[batch, head, key, value_dim]"""
    pattern: Pattern
    key_observed: Tensor | None = None
    """Bool [batch, key]: False hides a key from every query. None hides nothing."""
    dropout: float = 0.0
    """Share of softmax weights dropped in this call (0 outside training)."""

    @property
    def num_queries(self) -> int:
        """Number of query positions."""
        return self.query.shape[2]

    @property
    def num_keys(self) -> int:
        """Number of key positions."""
        return self.key.shape[2]

    def mask(self) -> Bool[Tensor, "batch_or_1 1 query key"]:
        """Write the whole mask out; True means "may look". Memory grows with query x key: kernels avoid it."""
        first_query = self.num_keys - self.num_queries
        queries = torch.arange(first_query, self.num_keys, device=self.key.device).unsqueeze(1)
        keys = torch.arange(self.num_keys, device=self.key.device).unsqueeze(0)
        seen = self.pattern.may_look(queries, keys).unsqueeze(0).unsqueeze(0)
        return seen if self.key_observed is None else seen & self.key_observed.unsqueeze(1).unsqueeze(1)
