"""Linear patterns of every kind, and calls of them."""

import pytest
import torch

from forecast.attention.call import AttentionCall
from forecast.attention.features import Elu, PositiveRandom
from forecast.attention.patterns import Linear

FEATURES = [Elu(), PositiveRandom(num_features=24, seed=5)]
PATTERNS = [Linear(features=features, causal=causal) for features in FEATURES for causal in (False, True)]
CAUSAL = [pattern for pattern in PATTERNS if pattern.causal]

every_pattern = pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
every_causal = pytest.mark.parametrize("pattern", CAUSAL, ids=repr)
every_map = pytest.mark.parametrize("features", FEATURES, ids=repr)


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    """Draw queries, keys and values of one shape."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for _ in range(3)]


def make_call(pattern, length: int, *, hidden: bool = False, seed: int = 0, dtype=torch.float64) -> AttentionCall:
    observed = None
    if hidden:
        observed = torch.rand(2, length, generator=torch.Generator().manual_seed(seed)) > 0.4
        observed[0, : length // 2] = False
        observed[1] &= length % 2 == 0  # of odd lengths the second row sees nothing at all
    return AttentionCall(*draw(2, 3, length, 8, seed=seed, dtype=dtype), pattern=pattern, key_observed=observed)
