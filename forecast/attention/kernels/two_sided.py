"""The bias along slopes where queries look to both sides: two causal halves, merged through their log-sum-exp.

|query place - key place| is no product of columns, but it is one on either side of the diagonal. The left half is
causal; the right half is causal in reverse order, each query against the keys behind its own. A softmax over both is
their mean, weighed by exp(log-sum-exp). Its gradient needs none of the log-sum-exp: a fused backward pass that is given
output and log-sum-exp of the whole computes the weights of the whole, and so each half its share.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from forecast.attention.biases import SlopeBias
from forecast.attention.call import AttentionCall
from forecast.attention.kernels.widened import (
    Widened,
    blinded,
    exact,
    hidden_columns,
    in_precision,
    pad,
    run_precision,
    slope_columns,
    widen,
)
from forecast.attention.patterns import Full
from forecast.attention.relation import Stand

SHORTEST = 512  # tokens; for fewer a bias written out is faster (CPU, measured forward and backward)

FORWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
BACKWARD = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def two_sided(call: AttentionCall) -> Tensor | None:
    """Attend along slopes where all tokens of a sequence see each other.

    In fp32 or better: the gradient of a slope is a difference of sums of which half precision holds too little.
    """
    if not isinstance(call.bias, SlopeBias) or not isinstance(call.pattern, Full) or call.stand is not None:
        return None
    if call.num_queries != call.num_keys or call.num_keys < SHORTEST:
        return None
    if call.dropout or call.query.device.type != "cpu":
        return None
    fine = in_precision(call, exact(call.query.dtype))
    output = TwoSided.apply(fine.query, fine.key, fine.value, call.bias.slopes, call.key_observed)
    return blinded(call, output.to(run_precision(call)))


class TwoSided(torch.autograd.Function):
    """Both halves as one function; columns are made anew in the backward pass, so that none are kept for it."""

    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, slopes: Tensor, observed: Tensor | None
    ) -> Float[Tensor, "batch head query value_dim"]:
        """Attend to the left and to the right, and merge."""
        call = AttentionCall(query, key, value, Full(), key_observed=observed)
        output, total = _merge(_attend(call, slopes, LEFT), _attend(call, slopes, RIGHT))
        ctx.save_for_backward(query, key, value, slopes, observed, output, total)
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        """Add up the gradients of both halves."""
        query, key, value, slopes, observed, output, total = ctx.saved_tensors
        call = AttentionCall(query, key, value, Full(), key_observed=observed)
        whole = grad, output, total
        *sums, to_slopes = _gradients(call, slopes, whole, LEFT)
        *more, more_to_slopes = _gradients(call, slopes, whole, RIGHT)
        for sum_, addend, kept in zip(sums, more, (UP_TO_LAST, FROM_SECOND, FROM_SECOND), strict=True):
            sum_[:, :, kept] += addend.flip(2)
        return *sums, to_slopes + more_to_slopes, None


UP_TO_LAST, FROM_SECOND = slice(None, -1), slice(1, None)


@dataclass(frozen=True)
class Half:
    """One side of the diagonal, as a causal call of its own."""

    gap: int
    """Tokens from the newest key that a query sees to itself."""
    order: Callable[[AttentionCall], AttentionCall]
    order_rows: Callable[[Tensor], Tensor]
    """Brings what has a row a query into the order of the call."""


def _turned(call: AttentionCall) -> AttentionCall:
    """Give the call in reverse order, without the last query, which has no key behind it, and the first key."""
    key, value = (tensor[:, :, FROM_SECOND].flip(2) for tensor in (call.key, call.value))
    observed = None if call.key_observed is None else call.key_observed[:, FROM_SECOND].flip(1)
    return replace(call, query=_turned_rows(call.query), key=key, value=value, key_observed=observed)


def _turned_rows(rows: Tensor) -> Tensor:
    return rows[:, :, UP_TO_LAST].flip(2)


LEFT = Half(gap=0, order=lambda call: call, order_rows=lambda rows: rows)
RIGHT = Half(gap=1, order=_turned, order_rows=_turned_rows)


def _widen(call: AttentionCall, slopes: Tensor, half: Half) -> tuple[Widened, Tensor]:
    """Give what a causal kernel attends to, and its first columns beside the queries, in which slopes have a part."""
    call = half.order(call)
    places = Stand().places(call.num_keys, device=call.key.device)
    sloped = slope_columns(call, slopes, queries=places + half.gap, keys=places)
    return widen(call, [sloped, *hidden_columns(call)]), sloped.query


def _attend(call: AttentionCall, slopes: Tensor, half: Half) -> tuple[Tensor, Tensor]:
    """Give output [batch, head, query, value_dim] and log-sum-exp [batch, head, query] of a half."""
    wide, _ = _widen(call, slopes, half)
    output, total = FORWARD(wide.query, wide.key, wide.value, is_causal=True, scale=wide.scale)
    return output[..., : call.value.shape[-1]].contiguous(), total


def _merge(to_left: tuple[Tensor, Tensor], to_right: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
    """Give output and log-sum-exp of both halves together; the last query has a left one alone."""
    (output, total), (other, other_total) = to_left, (tensor.flip(2) for tensor in to_right)
    own = total[:, :, UP_TO_LAST]
    output[:, :, UP_TO_LAST].lerp_(other, torch.sigmoid(other_total - own).unsqueeze(-1))
    total[:, :, UP_TO_LAST] = torch.logaddexp(own, other_total)
    return output, total


def _gradients(
    call: AttentionCall, slopes: Tensor, whole: tuple[Tensor, Tensor, Tensor], half: Half
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Give a half's gradients of query, key, value and slopes from gradient, output and log-sum-exp of the whole."""
    leaf = slopes.detach().requires_grad_()
    with torch.enable_grad():
        wide, columns = _widen(call, leaf, half)
    query, key, value = _wide_gradients(wide, whole, half)
    (to_slopes,) = torch.autograd.grad(columns, leaf, query[..., : columns.shape[-1]].sum(dim=0, keepdim=True))
    own = slice(wide.first, wide.first + call.key.shape[-1])
    to_query, to_key = query[..., own] * wide.factor, key[..., own].contiguous()
    return to_query, to_key, value[..., : call.value.shape[-1]].contiguous(), to_slopes


def _wide_gradients(wide: Widened, whole: tuple[Tensor, Tensor, Tensor], half: Half) -> tuple[Tensor, Tensor, Tensor]:
    # Rows in order are not kept beside those padded: this is where the pass needs the most memory.
    padded = [pad(half.order_rows(rows), wide.value.shape[-1]) for rows in whole[:2]]
    total = half.order_rows(whole[2])
    return BACKWARD(padded[0], wide.query, wide.key, wide.value, padded[1], total, 0.0, True, scale=wide.scale)
