"""The kernel of PyTorch: fused, memory linear in the length on CPU and CUDA."""

from typing import ClassVar

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from forecast.attention.kernels.base import Kernel
from forecast.attention.pattern import AttentionCall, Causal, Full


class SdpaKernel(Kernel):
    """`torch.nn.functional.scaled_dot_product_attention`; a mask is written out only where the pattern needs one."""

    name: ClassVar[str] = "sdpa"

    def refusal(self, call: AttentionCall) -> str | None:
        """Refuse nothing: what the fused kernels do not cover, PyTorch computes exactly on its own."""
        return None

    def run(self, call: AttentionCall) -> Float[Tensor, "batch head query value_dim"]:
        """Choose the cheapest exact form: no mask, the causal flag, or the written mask."""
        if call.key_observed is None and _sees_all(call):
            return _fused(call)
        if call.key_observed is None and _is_square_causal(call):
            return _fused(call, is_causal=True)
        mask = call.mask()
        output = _fused(call, mask=mask)
        return output.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


def _fused(call: AttentionCall, *, mask: Tensor | None = None, is_causal: bool = False) -> Tensor:
    return functional.scaled_dot_product_attention(
        call.query, call.key, call.value, attn_mask=mask, dropout_p=call.dropout, is_causal=is_causal
    )


def _sees_all(call: AttentionCall) -> bool:
    """A single causal query stands at the last key, so it sees all of them, as in a cached decoding step."""
    return isinstance(call.pattern, Full) or (isinstance(call.pattern, Causal) and call.num_queries == 1)


def _is_square_causal(call: AttentionCall) -> bool:
    """The causal flag of PyTorch is aligned at the top left, ours at the bottom right: equal only when square."""
    return isinstance(call.pattern, Causal) and call.num_queries == call.num_keys
