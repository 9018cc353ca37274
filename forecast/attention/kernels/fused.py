"""PyTorch's fused attention, as the forms of `SdpaKernel` call it."""

from torch import Tensor
from torch.nn import functional

from forecast.attention.call import AttentionCall


def fused(call: AttentionCall, *, mask: Tensor | None = None, is_causal: bool = False) -> Tensor:
    """Call PyTorch's kernel with what of the call is not in the mask."""
    return functional.scaled_dot_product_attention(
        call.query, call.key, call.value, attn_mask=mask, dropout_p=call.dropout, is_causal=is_causal
    )
