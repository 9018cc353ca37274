"""Attention patterns: one file each, one line in the union."""

from typing import Annotated

from forecast.attention.patterns.base import Pattern
from forecast.attention.patterns.causal import Causal
from forecast.attention.patterns.full import Full
from forecast.attention.patterns.linear import Linear
from forecast.attention.patterns.local import Local
from forecast.attention.patterns.sparse import Sparse
from forecast.config import Tagged

AnyPattern = Annotated[Full | Causal | Local | Sparse | Linear, Tagged]

__all__ = ["AnyPattern", "Causal", "Full", "Linear", "Local", "Pattern", "Sparse"]
