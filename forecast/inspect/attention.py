"""Attention weights, computed beside a pass where somebody asks for them: nothing is kept or asked otherwise."""

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from forecast.attention.call import AttentionCall
from forecast.attention.multihead import MultiHeadAttention
from forecast.attention.patterns import Linear
from forecast.attention.relation import Stand

Queries = Int64[Tensor, " query"]
"""Numbers of queries of a pass, counted from 0 at its first."""


@contextmanager
def recorded(
    attentions: Sequence[MultiHeadAttention], *, queries: Queries | None = None
) -> Generator[list[list[Tensor]]]:
    """Record the weights of attentions in every pass inside the block: for each attention a list, of a pass each.

    Each is [batch, head, query, key] of the chosen queries, by default of all, on the CPU and detached. Whatever kernel
    runs, these are computed beside it from what it was given. Roll-outs over a cache do not pass through: record the
    taught decoder.
    """
    found: list[list[Tensor]] = [[] for _ in attentions]
    hooks = [
        attention.register_forward_hook(partial(_record, into=into, queries=queries), with_kwargs=True)
        for attention, into in zip(attentions, found, strict=True)
    ]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


def _record(
    attention: MultiHeadAttention,
    given: tuple[Any, ...],
    named: dict[str, Any],
    _output: Tensor,
    *,
    into: list[Tensor],
    queries: Queries | None,
) -> None:
    with torch.no_grad():
        call = attention.call_for(*given, **named)
        chosen = torch.arange(call.num_queries) if queries is None else queries
        into.append(weights_of(call, chosen.to(call.query.device)).cpu())


def weights_of(call: AttentionCall, queries: Queries) -> Float[Tensor, "batch head query key"]:
    """Give the weights of some queries as `attention_weights` of the reference kernel does; memory is theirs alone.

    Rows sum to 1, or are all 0 where a query may see nothing.
    """
    exact = torch.promote_types(call.query.dtype, torch.float32)
    seen = _seen(call, queries)
    with torch.autocast(call.query.device.type, enabled=False):
        own = replace(call, query=call.query[:, :, queries].to(exact), key=call.key.to(exact))
        logarithms = _log_products(own, call.pattern) if isinstance(call.pattern, Linear) else _products(own)
    if call.bias is not None:
        stand = call.stand or Stand(first=float(call.num_keys - call.num_queries))
        places = stand.first + stand.step * queries
        keys = Stand().places(call.num_keys, device=call.key.device)
        logarithms = logarithms + call.bias.score(places.unsqueeze(1), keys.unsqueeze(0))
    weights = torch.softmax(logarithms.masked_fill(~seen, -math.inf), dim=-1)
    return weights.masked_fill(~seen.any(dim=-1, keepdim=True), 0.0)


def entropy(weights: Float[Tensor, "*row key"]) -> Float[Tensor, "*row"]:
    """Give the entropy of each row in nats: 0 where a query looks at one key, log(n) where at n alike."""
    return torch.special.entr(weights).sum(dim=-1)


def _seen(call: AttentionCall, queries: Queries) -> Bool[Tensor, "batch_or_1 1 query key"]:
    places = (queries + call.num_keys - call.num_queries).unsqueeze(1)
    keys = torch.arange(call.num_keys, device=call.key.device).unsqueeze(0)
    seen = call.pattern.may_look(places, keys, num_keys=call.num_keys)[None, None]
    return seen if call.key_observed is None else seen & call.key_observed[:, None, None]


def _products(call: AttentionCall) -> Tensor:
    return call.query @ call.key.transpose(-2, -1) / math.sqrt(call.query.shape[-1])


def _log_products(call: AttentionCall, pattern: Linear) -> Tensor:
    """Give the logarithms of what the weights are in proportion to."""
    keys = pattern.features.of_keys(call.key)
    products = pattern.features.of_queries(call.query) @ keys.values.transpose(-2, -1)
    logarithms = products.clamp(min=torch.finfo(products.dtype).tiny).log()
    return logarithms if keys.log_scale is None else logarithms + keys.log_scale.unsqueeze(-2)
