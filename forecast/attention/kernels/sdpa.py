"""The kernel of PyTorch: fused, memory linear in the length on CPU and CUDA."""

from collections.abc import Callable
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from forecast.attention.call import AttentionCall
from forecast.attention.kernels.base import Kernel
from forecast.attention.kernels.blocks import blocks
from forecast.attention.kernels.fused import fused
from forecast.attention.kernels.mirrored import mirrored
from forecast.attention.kernels.slopes import slopes
from forecast.attention.kernels.two_sided import two_sided
from forecast.attention.patterns import Causal, Full, Linear
from forecast.attention.patterns.linear import NO_SOFTMAX


class SdpaKernel(Kernel):
    """`torch.nn.functional.scaled_dot_product_attention`; a mask is written out only where nothing cheaper is exact."""

    name: ClassVar[str] = "sdpa"

    def refusal(self, call: AttentionCall) -> str | None:
        """Refuse what has no softmax: all else that fused kernels do not cover, PyTorch computes exactly on its own."""
        return NO_SOFTMAX if isinstance(call.pattern, Linear) else None

    def run(self, call: AttentionCall) -> Float[Tensor, "batch head query value_dim"]:
        """Take the first form that serves, the cheapest first."""
        return next(output for form in FORMS if (output := form(call)) is not None)


def whole(call: AttentionCall) -> Tensor | None:
    """Attend where every query sees every key."""
    return fused(call) if _is_plain(call) and _sees_all(call) else None


def triangle(call: AttentionCall) -> Tensor | None:
    """Attend where queries see what stands before them."""
    return fused(call, is_causal=True) if _is_plain(call) and _is_square_causal(call) else None


def written(call: AttentionCall) -> Tensor:
    """Attend under the written mask and bias: exact for every call, memory grows with query x key."""
    mask, bias = call.mask(), call.written_bias()
    added = mask if bias is None else bias.to(call.query.dtype).masked_fill(~mask, -torch.inf)
    return fused(call, mask=added).masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


FORMS: tuple[Callable[[AttentionCall], Tensor | None], ...] = (
    whole,
    triangle,
    slopes,
    mirrored,
    two_sided,
    blocks,
    written,
)
"""Each gives the output where it serves the call, else None; the last serves all."""


def _is_plain(call: AttentionCall) -> bool:
    return call.key_observed is None and call.bias is None


def _sees_all(call: AttentionCall) -> bool:
    """A single causal query stands at the last key, so it sees all of them, as in a cached decoding step."""
    return isinstance(call.pattern, Full) or (isinstance(call.pattern, Causal) and call.num_queries == 1)


def _is_square_causal(call: AttentionCall) -> bool:
    """The causal flag of PyTorch is aligned at the top left, ours at the bottom right: equal only when square."""
    return isinstance(call.pattern, Causal) and call.num_queries == call.num_keys
