"""A bias that knows the distance alone, shown as query x key by a view of one number a distance.

With the queries in reverse order query r and key j are told number r + j of a row of numbers, so that each row of the
bias is the one before it, moved by one: strides of 1 and 1. On CPU alone: kernels of CUDA want rows of a bias to begin
at aligned addresses.
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from forecast.attention.biases import Bias
from forecast.attention.call import AttentionCall
from forecast.attention.kernels.widened import (
    attend_widened,
    blinded,
    hidden_columns,
    in_run_precision,
    mask_dtype,
    pays,
)
from forecast.attention.patterns import Causal, Full
from forecast.attention.relation import Stand

STRETCH = 512  # causal queries at once, each against the keys before the last of them: fewer cost more calls


def mirrored(call: AttentionCall) -> Tensor | None:
    """Attend where who sees whom is a matter of distance, as the bias is, and no gradient is to reach the bias."""
    bias = call.bias
    if bias is None or call.query.device.type != "cpu" or not _goes_by_distance(call):
        return None
    if call.key_observed is not None and not pays(call):
        return None
    call = in_run_precision(call)
    numbers = _numbers(call, bias)
    if numbers.requires_grad:
        return None
    parts = [_attend(call, numbers, queries) for queries in _stretches(call)]
    return blinded(call, parts[0] if len(parts) == 1 else torch.cat(parts, dim=2))


def _goes_by_distance(call: AttentionCall) -> bool:
    """Whether tokens stand at a distance of one; causal queries before the first key, which see nothing, do not."""
    if isinstance(call.pattern, Causal):
        return call.stand is None and call.num_queries <= call.num_keys
    return isinstance(call.pattern, Full) and (call.stand is None or call.stand.step == 1)


def _numbers(call: AttentionCall, bias: Bias) -> Float[Tensor, "head distance"]:
    """Give the bias from the first key of the last query to the last key of the first."""
    stand = call.stand or Stand(first=float(call.num_keys - call.num_queries))
    first = Stand(first=1.0 - stand.first - call.num_queries)
    distances = first.places(call.num_queries + call.num_keys - 1, device=call.key.device)
    numbers = bias.score(torch.zeros_like(distances), distances).to(mask_dtype(call)).contiguous()
    return numbers.masked_fill(distances > 0, -torch.inf) if isinstance(call.pattern, Causal) else numbers


def _stretches(call: AttentionCall) -> Iterator[slice]:
    size = STRETCH if isinstance(call.pattern, Causal) else max(call.num_queries, 1)
    for start in range(0, call.num_queries, size):
        yield slice(start, min(start + size, call.num_queries))


def _attend(call: AttentionCall, numbers: Float[Tensor, "head distance"], queries: slice) -> Tensor:
    """Attend with a stretch of the queries to the keys that they may see."""
    behind = call.num_queries - queries.stop
    keys = slice(call.num_keys - behind if isinstance(call.pattern, Causal) else call.num_keys)
    observed = None if call.key_observed is None else call.key_observed[:, keys]
    query, key, value = call.query[:, :, queries].flip(2), call.key[:, :, keys], call.value[:, :, keys]
    part = replace(call, query=query, key=key, value=value, key_observed=observed)
    shape = (1, len(numbers), part.num_queries, part.num_keys)
    mask = numbers.as_strided(shape, (0, numbers.stride(0), 1, 1), storage_offset=behind)
    return attend_widened(part, hidden_columns(part), mask=mask).flip(2)
