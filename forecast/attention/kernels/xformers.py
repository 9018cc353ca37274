"""The memory-efficient kernels of xformers, or of MSLK, its successor under the same names (CUDA only).

Which operator serves which call is xformers' own choice; `operator_name` asks it, so that tests can hold the answer
for a GPU without having one.
"""

import importlib
from functools import cache
from types import ModuleType
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor

from forecast.attention.call import AttentionCall
from forecast.attention.kernels.base import Kernel
from forecast.attention.patterns import Causal, Full
from forecast.errors import BackendUnavailable

BIAS_ALIGNMENT = 8  # fused kernels read a bias in 16-byte rows: 8 halves


class XformersKernel(Kernel):
    """`memory_efficient_attention`: exact, memory linear in the length, bias written out only for hidden keys."""

    name: ClassVar[str] = "xformers"

    def refusal(self, call: AttentionCall) -> str | None:
        """Refuse CPU tensors, a missing package, and shapes that no operator of it serves."""
        if call.query.device.type != "cuda":
            return f"xformers has no kernel for {call.query.device.type} tensors; use backend 'sdpa'"
        try:
            fmha()
        except BackendUnavailable as failure:
            return str(failure)
        return _dispatch_refusal(call)

    def run(self, call: AttentionCall) -> Float[Tensor, "batch head query value_dim"]:
        """Compute in xformers' layout [batch, token, head, head_dim] and give ours back."""
        query, key, value = (tensor.transpose(1, 2) for tensor in (call.query, call.key, call.value))
        output = fmha().memory_efficient_attention(query, key, value, attn_bias=bias_of(call), p=call.dropout)
        output = output.transpose(1, 2)
        if not _is_written(call):
            return output
        return output.masked_fill(~call.mask().any(dim=-1, keepdim=True), 0.0)


def fmha() -> ModuleType:
    """Give the attention module, imported at its first use: MSLK's where it is installed, else xformers'.

    Raises:
        BackendUnavailable: neither package can be imported.
    """
    found = _import_once()
    if isinstance(found, str):
        raise BackendUnavailable(found)
    return found


@cache
def _import_once() -> ModuleType | str:
    """Import the module, or say why it cannot be; a failed import costs seconds and is not tried again."""
    reasons = []
    for name in ("mslk.attention.fmha", "xformers.ops.fmha"):
        try:
            return importlib.import_module(name)
        except (ImportError, OSError) as failure:
            reasons.append(f"{name}: {failure}")
    return (
        f"backend 'xformers' cannot be imported ({'; '.join(reasons)}); run `pip install mslk-cuda` or "
        f"`pip install xformers`, or use backend 'sdpa'"
    )


def bias_of(call: AttentionCall) -> Any:
    """Translate pattern and hidden keys to the bias that xformers understands; None hides nothing."""
    if _is_written(call):
        return _written_bias(call)
    if isinstance(call.pattern, Full) or call.num_queries == 1:
        return None
    biases = fmha().attn_bias
    # The plain triangle is aligned at the top left and refused when the sides differ; ours is at the bottom right.
    square = call.num_queries == call.num_keys
    return biases.LowerTriangularMask() if square else biases.LowerTriangularFromBottomRightMask()


def _is_written(call: AttentionCall) -> bool:
    return not (isinstance(call.pattern, Full | Causal) and call.key_observed is None and call.bias is None)


def operator_name(call: AttentionCall) -> str:
    """Give the name of the operator that xformers picks for the forward pass of this call."""
    operators = fmha()
    operator = operators.dispatch._dispatch_fw(_inputs(call), needs_gradient=_needs_gradient(call))
    return str(operator.NAME)


def _dispatch_refusal(call: AttentionCall) -> str | None:
    try:
        operator_name(call)
    except NotImplementedError as failure:
        return f"no operator of xformers serves this call ({failure}); use backend 'sdpa'"
    return None


def _inputs(call: AttentionCall) -> Any:
    query, key, value = (tensor.transpose(1, 2) for tensor in (call.query, call.key, call.value))
    return fmha().Inputs(query=query, key=key, value=value, attn_bias=bias_of(call), p=call.dropout)


def _needs_gradient(call: AttentionCall) -> bool:
    return any(tensor.requires_grad for tensor in (call.query, call.key, call.value))


def _written_bias(call: AttentionCall) -> Tensor:
    """Write 0 or -inf a pair into a buffer with aligned rows and cut it to size, as the fused kernels demand.

    A row that may see nothing stays all 0 here, so that its softmax is finite; `run` puts its output to zero.
    """
    mask = call.mask()
    hidden = mask.logical_not() & mask.any(dim=-1, keepdim=True)
    batch, heads, queries, _ = call.query.shape
    width = -(-call.num_keys // BIAS_ALIGNMENT) * BIAS_ALIGNMENT
    buffer = torch.zeros(batch, heads, queries, width, dtype=call.query.dtype, device=call.query.device)
    written = buffer.narrow(-1, 0, call.num_keys)
    if (bias := call.written_bias()) is not None:
        written.add_(bias)
    return written.masked_fill_(hidden, -torch.inf)
