"""The reference kernel: the definition of attention written out, for tests and for looking inside."""

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from forecast.attention.call import AttentionCall
from forecast.attention.kernels.base import Kernel


class ReferenceKernel(Kernel):
    """Scaled dot-product attention as in Vaswani et al., "Attention Is All You Need" (2017), equation 1."""

    name: ClassVar[str] = "reference"

    def refusal(self, call: AttentionCall) -> str | None:
        """Refuse nothing: the definition covers every call."""
        return None

    def run(self, call: AttentionCall) -> Float[Tensor, "batch head query value_dim"]:
        """Compute the weights, drop some of them in training, and average the values."""
        return functional.dropout(attention_weights(call), p=call.dropout) @ call.value


def attention_weights(call: AttentionCall) -> Float[Tensor, "batch head query key"]:
    """Give the softmax weights: rows sum to 1, or are all 0 where a query may see nothing."""
    scores = call.query @ call.key.transpose(-2, -1) / math.sqrt(call.query.shape[-1])
    mask, bias = call.mask(), call.written_bias()
    # Softmax in fp32 or better: half precision cannot hold sums of thousands of weights. -inf is safe in every
    # precision because rows without any visible key are put to zero afterwards.
    exact = scores.to(torch.promote_types(scores.dtype, torch.float32))
    exact = exact if bias is None else exact + bias
    weights = torch.softmax(exact.masked_fill(~mask, -math.inf), dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0).to(scores.dtype)
