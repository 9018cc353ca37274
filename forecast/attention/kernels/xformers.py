"""The memory-efficient kernels of xformers, or of MSLK, its successor under the same names (CUDA only).

Which operator serves which call is xformers' own choice, which `forecast.attention.kernels.dispatch` asks for.
"""

from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from forecast.attention.biases import SlopeBias
from forecast.attention.call import AttentionCall
from forecast.attention.kernels.base import Kernel
from forecast.attention.kernels.dispatch import fmha, refused
from forecast.attention.kernels.gradient import trains_bias
from forecast.attention.patterns import Causal, Full, Linear, Local
from forecast.attention.patterns.blocked import Blocked
from forecast.attention.patterns.linear import NO_SOFTMAX
from forecast.errors import BackendUnavailable

BIAS_ALIGNMENT = 8  # fused kernels read a bias in 16-byte rows: 8 halves
HALVES = (torch.bfloat16, torch.float16)  # what the kernels with a sliding window compute in


class XformersKernel(Kernel):
    """`memory_efficient_attention`: exact; memory linear in the length, but for a bias and for hidden keys."""

    name: ClassVar[str] = "xformers"

    def refusal(self, call: AttentionCall) -> str | None:
        """Refuse what has no softmax, CPU tensors, a missing package, and shapes that no operator of it serves."""
        if isinstance(call.pattern, Linear):
            return NO_SOFTMAX
        if call.query.device.type != "cuda":
            return f"xformers has no kernel for {call.query.device.type} tensors; use backend 'sdpa'"
        try:
            fmha()
        except BackendUnavailable as failure:
            return str(failure)
        return refused(call, blank_bias_of(call))

    def reluctance(self, call: AttentionCall) -> str | None:
        """Leave to 'sdpa' what would be written out here and not there, and what torch.compile looks through there."""
        if torch.compiler.is_compiling():
            return "torch.compile cannot look through it"
        spared = isinstance(call.pattern, Blocked) or (isinstance(call.bias, SlopeBias) and call.looks_back)
        return "would write a number for every query and key" if spared and is_written(call) else None

    def run(self, call: AttentionCall) -> Float[Tensor, "batch head query value_dim"]:
        """Compute in xformers' layout [batch, token, head, head_dim] and give ours back."""
        mask = call.mask() if is_written(call) else None
        query, key, value = (tensor.transpose(1, 2) for tensor in (call.query, call.key, call.value))
        bias = _structure(call) if mask is None else written_bias(call, mask)
        output = fmha().memory_efficient_attention(query, key, value, attn_bias=bias, p=call.dropout).transpose(1, 2)
        return output if mask is None else output.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


def bias_of(call: AttentionCall) -> Any:
    """Translate pattern, bias and hidden keys to the bias that xformers understands; None hides nothing."""
    return written_bias(call, call.mask()) if is_written(call) else _structure(call)


def blank_bias_of(call: AttentionCall) -> Any:
    """Give a bias like that of the call to choose an operator by, with no memory behind it."""
    if not is_written(call):
        return _structure(call)
    batch, heads, queries, _ = call.query.shape
    width = _aligned(call.num_keys)
    strides = heads * queries * width, queries * width, width, 1
    shape = batch, heads, queries, call.num_keys
    blank = torch.empty_strided(shape, strides, dtype=call.query.dtype, device="meta")
    return blank.requires_grad_(trains_bias(call))


def is_written(call: AttentionCall) -> bool:
    """Whether no class of xformers says the pattern, so that every pair has to be written out."""
    if call.key_observed is not None or call.bias is not None:
        return True
    if isinstance(call.pattern, Full):
        return False
    # Queries before the first key see nothing, which kernels make of their own what they like.
    is_aligned = call.num_queries <= call.num_keys
    in_window = isinstance(call.pattern, Local) and call.query.dtype in HALVES
    return not (is_aligned and (isinstance(call.pattern, Causal) or in_window))


def _structure(call: AttentionCall) -> Any:
    """Give the class of xformers that says the pattern; what it takes for granted is told by `is_written`."""
    biases = fmha().attn_bias
    if isinstance(call.pattern, Local):
        return biases.LocalAttentionFromBottomRightMask(call.pattern.left, call.pattern.right)
    if isinstance(call.pattern, Full) or call.num_queries == 1:
        return None
    # The plain triangle is aligned at the top left and refused when the sides differ; ours is at the bottom right.
    square = call.num_queries == call.num_keys
    return biases.LowerTriangularMask() if square else biases.LowerTriangularFromBottomRightMask()


def written_bias(call: AttentionCall, mask: Bool[Tensor, "batch_or_1 1 query key"]) -> Tensor:
    """Write the bias and -inf for hidden pairs into a buffer with aligned rows, as the fused kernels demand.

    A row that may see nothing hides nothing here, so that its softmax is finite; `run` puts its output to zero.
    """
    hidden = mask.logical_not() & mask.any(dim=-1, keepdim=True)
    batch, heads, queries, _ = call.query.shape
    buffer = call.query.new_zeros(batch, heads, queries, _aligned(call.num_keys))
    written = buffer.narrow(-1, 0, call.num_keys)
    if (bias := call.written_bias()) is not None:
        written.add_(bias)
    return written.masked_fill_(hidden, -torch.inf)


def _aligned(num_keys: int) -> int:
    return -(-num_keys // BIAS_ALIGNMENT) * BIAS_ALIGNMENT
