"""One attention as every kernel gets it."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from forecast.attention.biases import Bias
from forecast.attention.patterns import Pattern
from forecast.attention.relation import Stand


@dataclass(frozen=True, eq=False)
class AttentionCall:
    """Queries, keys and values, who may look at whom, and what is added to the scores.

    Queries stand at the last positions of the keys (aligned at the bottom right), so that a cached decoding step and
    the full pass are the same definition. Queries of another sequence say for the bias where they stand.
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
    bias: Bias | None = None
    stand: Stand | None = None
    """Where the queries stand for the bias; None is at the last positions of the keys."""

    @property
    def num_queries(self) -> int:
        """Number of query positions."""
        return self.query.shape[2]

    @property
    def num_keys(self) -> int:
        """Number of key positions."""
        return self.key.shape[2]

    @property
    def looks_back(self) -> bool:
        """Whether no query sees a key that stands behind it: distances then have one sign."""
        if self.stand is None:
            return not self.pattern.looks_ahead
        return self.stand.first >= self.num_keys - 1 and self.stand.step >= 0

    def visible(self) -> Bool[Tensor, "query key"]:
        """Write the pattern out; True means "may look"."""
        first = self.num_keys - self.num_queries
        queries = torch.arange(first, self.num_keys, device=self.key.device).unsqueeze(1)
        keys = torch.arange(self.num_keys, device=self.key.device).unsqueeze(0)
        return self.pattern.may_look(queries, keys, num_keys=self.num_keys)

    def mask(self) -> Bool[Tensor, "batch_or_1 1 query key"]:
        """Write the whole mask out; True means "may look". Memory grows with query x key: kernels avoid it."""
        seen = self.visible().unsqueeze(0).unsqueeze(0)
        return seen if self.key_observed is None else seen & self.key_observed.unsqueeze(1).unsqueeze(1)

    def written_bias(self) -> Float[Tensor, "head query key"] | None:
        """Write the whole bias out, in fp32. Memory grows with query x key: kernels avoid it."""
        if self.bias is None:
            return None
        stand = self.stand or Stand(first=float(self.num_keys - self.num_queries))
        queries = stand.places(self.num_queries, device=self.key.device)
        keys = Stand().places(self.num_keys, device=self.key.device)
        return self.bias.score(queries.unsqueeze(1), keys.unsqueeze(0))
