"""Blocks through PyTorch's fused operators of the CPU, slab by slab in both passes.

Autograd would keep the copied keys of all blocks for the backward pass; here they are copied anew in it, and their
gradients are added up in place.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from forecast.attention.biases import Bias
from forecast.attention.call import AttentionCall
from forecast.attention.kernels.block_layout import Layout, Slab
from forecast.attention.kernels.block_tensors import (
    Shade,
    in_order,
    observed_rows,
    query_blocks,
    shade,
    taken,
    with_room,
)
from forecast.attention.patterns.blocked import Tokens

FORWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


def fits_flash(call: AttentionCall) -> bool:
    """Whether the operators serve: on a CPU, in one precision and width, without dropout or a gradient of the bias."""
    tensors = call.query, call.key, call.value
    if any(tensor.device.type != "cpu" or tensor.dtype != call.query.dtype for tensor in tensors):
        return False
    if call.query.dtype not in DTYPES or call.key.shape[-1] != call.value.shape[-1] or call.dropout:
        return False
    return not torch.is_autocast_enabled("cpu") and not _is_trained(call.bias)


def _is_trained(bias: Bias | None) -> bool:
    if bias is None:
        return False
    here = torch.zeros(1)
    return bias.score(here, here).requires_grad


class FlashBlocks(torch.autograd.Function):
    """All blocks of a call as one function; it keeps no copy of a key."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, observed: Tensor | None, bias: Bias | None, plan: Layout
    ) -> Tensor:
        """Attend slab by slab."""
        found = _Rows(plan), _Rows(plan)
        for slab, queries, seen in _slabs(plan, [query], [key, value], observed):
            for (rows,), (keys, values), shadow in _parts(slab, queries, seen, bias):
                output, total = FORWARD(*map(_folded, (rows, keys, values)), attn_mask=_number(shadow, rows))
                found[0].append(shadow.blinded(output.unflatten(0, rows.shape[:2])))
                found[1].append(total.unflatten(0, rows.shape[:2]).unsqueeze(-1))
        output, total = (rows.in_order() for rows in found)
        ctx.save_for_backward(query, key, value, observed, output, total)
        ctx.bias, ctx.plan = bias, plan
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Pull the gradient back through each slab."""
        query, key, value, observed, output, total = ctx.saved_tensors
        plan: Layout = ctx.plan
        to_query, sums = _Rows(plan), [with_room(torch.zeros_like(rows), plan) for rows in (key, value)]
        for slab, queries, seen in _slabs(plan, [query, grad, output, total], [key, value], observed):
            found = [_pulled(*part) for part in _parts(slab, queries, seen, ctx.bias)]
            for part in found:
                to_query.append(part[0])
            for number, tokens in enumerate(sums, start=1):
                _add(slab, torch.cat([part[number] for part in found]), tokens)
        to_key, to_value = (tokens.between(0, key.shape[2]) for tokens in sums)
        return to_query.in_order(), to_key, to_value, None, None, None


class _Rows:
    """Room for rows of all blocks, filled part by part."""

    def __init__(self, plan: Layout):
        self.plan = plan
        self.filled = 0
        self.blocks: Tensor | None = None

    def append(self, rows: Tensor) -> None:
        if self.blocks is None:
            # Rows of all heads side by side, as the operators give them, so that putting them in order copies least.
            num_rows, heads = rows.shape[3], rows.shape[2]
            shape = self.plan.grid.count, rows.shape[1], num_rows, heads, rows.shape[4]
            self.blocks = rows.new_empty(shape).transpose(2, 3)
        self.blocks[self.filled : self.filled + len(rows)] = rows
        self.filled += len(rows)

    def in_order(self) -> Tensor:
        assert self.blocks is not None
        return in_order(self.blocks, self.plan)


def _slabs(
    plan: Layout, queries: list[Tensor], keys: list[Tensor], observed: Tensor | None
) -> Iterator[tuple[Slab, list[Tensor], list[Tensor]]]:
    """Give each slab with its blocks of what has a row a query, and what they look at of what has a row a key."""
    counts = [slab.grid.count for slab in plan.slabs]
    rows = [query_blocks(tensor, plan).split(counts) for tensor in queries]
    tokens = [with_room(tensor, plan) for tensor in keys]
    if observed is not None:
        tokens.append(with_room(observed_rows(observed), plan))
    for slab, *some in zip(plan.slabs, *rows, strict=True):
        yield slab, some, [taken(slab, each) for each in tokens]


def _parts(
    slab: Slab, queries: list[Tensor], seen: list[Tensor], bias: Bias | None
) -> Iterator[tuple[list[Tensor], list[Tensor], Shade]]:
    counts = [part.count for part in slab.parts]
    queries_of_parts = zip(*(rows.split(counts) for rows in queries), strict=True)
    seen_of_parts = zip(*(rows.split(counts) for rows in seen), strict=True)
    for part, rows, (keys, values, *hidden) in zip(slab.parts, queries_of_parts, seen_of_parts, strict=True):
        observed = hidden[0] if hidden else None
        yield list(rows), [keys, values], shade(part, bias=bias, observed=observed, dtype=keys.dtype)


def _pulled(queries: list[Tensor], seen: list[Tensor], shadow: Shade) -> list[Tensor]:
    """Give the gradients of queries, keys and values of a part."""
    query, grad, output, total = queries
    rows = map(_folded, (shadow.blinded(grad), query, *seen, output))
    total = _folded(total).squeeze(-1)
    mask = _number(shadow, query)
    found = BACKWARD(*rows, total, 0.0, False, attn_mask=mask)
    return [gradient.unflatten(0, query.shape[:2]) for gradient in found]


def _add(slab: Slab, gradient: Tensor, tokens: Tokens) -> None:
    pieces = gradient.split([run.length for run in slab.runs], dim=3)
    for run, piece in zip(slab.runs, pieces, strict=True):
        run.add(piece, tokens, slab.grid)


def _folded(blocks: Tensor) -> Tensor:
    return blocks.flatten(0, 1)


def _number(shadow: Shade, rows: Tensor) -> Tensor:
    """Give the mask as the operators want it: added to the scores."""
    mask = shadow.folded(*rows.shape[:2])
    if mask.dtype != torch.bool:
        return mask
    return torch.zeros((), dtype=rows.dtype).expand(mask.shape).masked_fill(~mask, -torch.inf)
