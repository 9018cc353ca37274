"""Print how FlexAttention answers beside the reference, compiled: differences by case, and how often it compiled.

A script of its own: torch.compile cannot look through the shape checker that the tests put around every function.
"""

import json
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[3]))

from forecast.attention.biases import BucketBias, SlopeBias
from forecast.attention.call import AttentionCall
from forecast.attention.kernels.flex import FlexKernel, block_mask, score_of
from forecast.attention.kernels.reference import ReferenceKernel
from forecast.attention.patterns import Causal, Full, Local, Sparse
from forecast.attention.relation import Stand

HEADS = 3
SLOPES = SlopeBias(torch.tensor([0.5, 0.1, 0.0]))
BUCKETS = BucketBias(torch.linspace(-2, 2, 24).view(HEADS, 8), 16)
PATTERNS = [
    Full(),
    Causal(),
    Local(left=2, right=1),
    Sparse(left=1, right=0, num_global=1, num_random_blocks=1, block_length=2, season=3),
    Sparse(left=1, num_global=1, num_random_blocks=1, block_length=2, causal=True),
]
COMPILED = {
    "causal, 600": {"pattern": Causal(), "queries": 600, "keys": 600},
    "causal, 700": {"pattern": Causal(), "queries": 700, "keys": 700},
    "sparse, buckets, hidden": {"pattern": PATTERNS[3], "queries": 300, "keys": 300, "bias": BUCKETS, "hidden": True},
    "full, slopes at halves": {
        "pattern": Full(),
        "queries": 300,
        "keys": 310,
        "bias": SLOPES,
        "stand": Stand(9.0, 0.5),
    },
}


def make_call(*, pattern, queries, keys, bias=None, hidden=False, stand=None) -> AttentionCall:
    """Draw a call; of the second row of the batch every key is hidden."""
    generator = torch.Generator().manual_seed(7)
    tensors = [torch.randn(2, HEADS, length, 8, generator=generator) for length in (queries, keys, keys)]
    observed = torch.ones(2, keys, dtype=torch.bool)
    observed[0, :2] = observed[1] = False
    return AttentionCall(*tensors, pattern, key_observed=observed if hidden else None, bias=bias, stand=stand)


def difference(call: AttentionCall) -> float:
    """Give the largest difference of the outputs."""
    with torch.no_grad():
        return (FlexKernel().run(call) - ReferenceKernel().run(call)).abs().max().item()


def mistakes() -> int:
    """Count the pairs that masks and scores, not compiled, tell otherwise than the definition."""
    count = 0
    for pattern in PATTERNS:
        for queries, keys in ((5, 5), (1, 7), (150, 290), (8, 3)):
            mask = block_mask(pattern, queries, keys, torch.device("cpu")).mask_mod
            query, key = torch.arange(queries)[:, None], torch.arange(keys)[None]
            call = make_call(pattern=pattern, queries=queries, keys=keys)
            count += int((mask(0, 0, query, key) != call.visible()).sum())
    for bias in (SLOPES, BUCKETS):
        for stand in (None, Stand(9.0, 0.5)):
            call = make_call(pattern=Full(), queries=6, keys=9, bias=bias, hidden=True, stand=stand)
            places = [torch.arange(size).view(shape) for size, shape in SHAPES.items()]
            expected = call.written_bias().masked_fill(~call.mask(), -torch.inf)
            count += int((score_of(call)(torch.zeros(()), *places) != expected).sum())
    return count


SHAPES = {2: (2, 1, 1, 1), HEADS: (1, HEADS, 1, 1), 6: (1, 1, 6, 1), 9: (1, 1, 1, 9)}

print(  # noqa: T201 - its answer
    json.dumps(
        {
            "differences": {name: difference(make_call(**case)) for name, case in COMPILED.items()},
            "graphs": torch._dynamo.utils.counters["stats"]["unique_graphs"],
            "mistakes": mistakes(),
        }
    )
)
