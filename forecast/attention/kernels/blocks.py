"""Attention block by block where a pattern lets a block of queries see few keys: cost linear in the length.

The keys that a block looks at are laid side by side, and the blocks are attended to like rows of a batch.
"""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from forecast.attention.call import AttentionCall
from forecast.attention.kernels.block_flash import FlashBlocks, fits_flash
from forecast.attention.kernels.block_layout import Layout, Part, Slab, layout, num_candidates, over_all_keys
from forecast.attention.kernels.block_tensors import in_order, observed_rows, query_blocks, shade, taken, with_room
from forecast.attention.kernels.fused import fused
from forecast.attention.patterns.blocked import Blocked, Tokens

SHORTEST = 256  # keys; for fewer a mask written out is faster
# From so many times the keys copied for a block on it is faster than a mask: 1.5 to 2 times there, 10 times at 2,048.
PAYS_FROM = 2.0
# Pairs of query and key, where a mask costs as much a key as if it had so many queries more. For fewer, as in a
# decoding step, writing a mask takes less time than making the layout, or than leaving out the keys that nobody sees.
FEWEST_IN_BLOCKS, FEWEST_TO_SHORTEN, QUERIES_BESIDE = 100_000, 10_000, 8
COPIED_MB = 32  # at once, where autograd does not keep all copies to the end; more is not faster


def blocks(call: AttentionCall) -> Tensor | None:
    """Attend where the pattern is blocked and the sequence so long that it pays."""
    pattern = call.pattern
    if not isinstance(pattern, Blocked) or not _fits(call, pattern):
        return None
    if torch.compiler.is_compiling():  # layouts are made from numbers and kept, which no graph can hold
        return torch.compiler.disable(_serve)(call, pattern)
    return _serve(call, pattern)


def _serve(call: AttentionCall, pattern: Blocked) -> Tensor | None:
    short = _without_unseen(call, pattern)
    if _pays(short, pattern):
        return in_blocks(short, pattern)
    return None if short is call else _attend_newest(short, pattern)


def _fits(call: AttentionCall, pattern: Blocked) -> bool:
    """Queries of another sequence do not stand among the keys, and those apart alone are no blocks."""
    apart = pattern.num_apart(call.num_keys)
    return apart < call.num_queries <= call.num_keys and (call.bias is None or call.stand is None)


def _without_unseen(call: AttentionCall, pattern: Blocked) -> AttentionCall:
    """Leave out the oldest keys where no query sees them and nothing but distances counts, as in a decoding step."""
    if not pattern.knows_distance_alone or call.num_queries == call.num_keys or _pairs(call) < FEWEST_TO_SHORTEN:
        return call
    grid = pattern.grid(call.num_queries, call.num_keys)
    oldest = min(run.reach(grid)[0] for run in pattern.runs(grid, call.num_keys, device=call.key.device))
    if oldest <= 0:
        return call
    observed = None if call.key_observed is None else call.key_observed[:, oldest:]
    return replace(call, key=call.key[:, :, oldest:], value=call.value[:, :, oldest:], key_observed=observed)


def _pays(call: AttentionCall, pattern: Blocked) -> bool:
    if call.num_keys < SHORTEST or _pairs(call) < FEWEST_IN_BLOCKS:
        return False
    return call.num_keys >= PAYS_FROM * num_candidates(pattern, call.num_queries, call.num_keys)


def _pairs(call: AttentionCall) -> int:
    return (call.num_queries + QUERIES_BESIDE) * call.num_keys


def in_blocks(call: AttentionCall, pattern: Blocked) -> Tensor:
    """Attend in blocks whatever the length, and over all keys for the queries apart."""
    at_once = _blocks_at_once(call, pattern)
    plan = layout(pattern, call.num_queries, call.num_keys, blocks_at_once=at_once, device=call.key.device)
    output = _attend_flash(call, plan) if fits_flash(call) else _attend_plain(call, plan)
    if plan.apart is None:
        return output
    count = plan.apart.queries.shape[1]
    apart = _attend_over_all(replace(call, query=call.query[:, :, -count:]), plan.apart)
    return torch.cat([output[:, :, :-count], apart], dim=2)


def _attend_newest(call: AttentionCall, pattern: Blocked) -> Tensor:
    part = over_all_keys(pattern, call.num_queries, call.num_keys, device=call.key.device)
    return _attend_over_all(call, part)


def _blocks_at_once(call: AttentionCall, pattern: Blocked) -> int:
    """Give a power of two, so that few layouts are kept for one length."""
    grid = pattern.grid(call.num_queries, call.num_keys)
    is_trained = any(tensor.requires_grad for tensor in (call.query, call.key, call.value))
    if is_trained and torch.is_grad_enabled() and not fits_flash(call):
        return grid.count  # each slab would have a gradient of its own for all keys
    batch, heads, _, width = call.key.shape
    numbers = heads * (width + call.value.shape[-1]) + grid.width * (1 if call.bias is None else heads)
    copied = batch * num_candidates(pattern, call.num_queries, call.num_keys) * numbers * call.key.itemsize
    return min(grid.count, 1 << max(0, int(COPIED_MB * 2**20 / copied).bit_length() - 1))


def _attend_flash(call: AttentionCall, plan: Layout) -> Tensor:
    return FlashBlocks.apply(call.query, call.key, call.value, call.key_observed, call.bias, plan)


def _attend_plain(call: AttentionCall, plan: Layout) -> Tensor:
    """Attend by what autograd knows: on every device, with dropout, and with gradients of the bias."""
    queries = query_blocks(call.query, plan).split([slab.grid.count for slab in plan.slabs])
    seen = [with_room(call.key, plan), with_room(call.value, plan)]
    if call.key_observed is not None:
        seen.append(with_room(observed_rows(call.key_observed), plan))
    slabs = zip(plan.slabs, queries, strict=True)
    return in_order(torch.cat([rows for slab, some in slabs for rows in _attend_slab(call, slab, some, seen)]), plan)


def _attend_slab(call: AttentionCall, slab: Slab, queries: Tensor, seen: list[Tokens]) -> Iterator[Tensor]:
    counts = [part.count for part in slab.parts]
    found = [taken(slab, tokens).split(counts) for tokens in seen]
    for part, query, *keys in zip(slab.parts, queries.split(counts), *found, strict=True):
        yield _attend(call, part, query, *keys)


def _attend_over_all(call: AttentionCall, part: Part) -> Tensor:
    seen = [call.query, call.key, call.value]
    if call.key_observed is not None:
        seen.append(observed_rows(call.key_observed))
    return _attend(call, part, *(tensor.unsqueeze(0) for tensor in seen)).squeeze(0)


def _attend(
    call: AttentionCall, part: Part, query: Tensor, key: Tensor, value: Tensor, observed: Tensor | None = None
) -> Tensor:
    """Attend with tensors of [block, batch, head, token, dim] as with a batch of block x batch."""
    shadow = shade(part, bias=call.bias, observed=observed, dtype=query.dtype)
    folded = replace(call, query=query.flatten(0, 1), key=key.flatten(0, 1), value=value.flatten(0, 1))
    output = fused(folded, mask=shadow.folded(*query.shape[:2]))
    return shadow.blinded(output.unflatten(0, query.shape[:2]))
