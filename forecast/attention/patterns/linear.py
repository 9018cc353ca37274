"""The linear pattern: attention without a softmax, whose cost is linear in the length whoever sees whom."""

from typing import Literal

import torch
from jaxtyping import Bool
from torch import Tensor

from forecast.attention.features import AnyFeatures, Elu
from forecast.attention.patterns.base import Pattern, Positions
from forecast.config import config

NO_SOFTMAX = "pattern 'linear' has no softmax, and this backend computes one; use backend 'auto' or 'linear'"
"""What backends that compute a softmax say of this pattern."""

POSITIONS = "position 'sinusoidal', 'learned' or 'none'"
"""Schemes that go with this pattern: they are added to tokens. The others act on scores, of which there are none."""

NO_SCORES = f"pattern 'linear' has no scores that a bias could be added to; use {POSITIONS}"
"""What every backend says of this pattern with a bias."""

NO_DROPOUT = (
    "pattern 'linear' never writes its weights out, so that none can be dropped; set attention_dropout to 0, or use "
    "backend 'reference', whose memory grows with length squared"
)
"""What all but the reference say of this pattern with dropout."""


@config
class Linear(Pattern):
    """Weights in proportion to features(query) . features(key): an architecture of its own, no stand-in for softmax.

    There is no score that a bias could be added to, and features of turned queries and keys (RoPE) do not know their
    distance alone, as products of them do. So positions are added to tokens.
    """

    kind: Literal["linear"] = "linear"

    features: AnyFeatures = Elu()

    causal: bool = False
    """Whether a query sees nothing after its own position."""

    @property
    def looks_ahead(self) -> bool:
        """Unless it is causal."""
        return not self.causal

    def may_look(self, query: Positions, key: Positions, *, num_keys: int) -> Bool[Tensor, "..."]:
        """Hide every later key where the pattern is causal, else nothing."""
        if self.causal:
            return key <= query
        return torch.ones(torch.broadcast_shapes(query.shape, key.shape), dtype=torch.bool, device=key.device)
