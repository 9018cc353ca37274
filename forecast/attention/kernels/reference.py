"""The reference kernel: the definition of attention written out, for tests and for looking inside."""

import math
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from forecast.attention.call import AttentionCall
from forecast.attention.features import FeatureMap
from forecast.attention.kernels.base import Kernel
from forecast.attention.patterns import Linear
from forecast.attention.patterns.linear import NO_SCORES


class ReferenceKernel(Kernel):
    """Scaled dot-product attention as in Vaswani et al., "Attention Is All You Need" (2017), equation 1.

    For pattern 'linear' the weights are those of Katharopoulos et al. (2020), equation 4, in place of a softmax.
    """

    name: ClassVar[str] = "reference"

    def refusal(self, call: AttentionCall) -> str | None:
        """Refuse nothing that is defined: a bias needs scores."""
        return NO_SCORES if isinstance(call.pattern, Linear) and call.bias is not None else None

    def run(self, call: AttentionCall) -> Float[Tensor, "batch head query value_dim"]:
        """Compute the weights, drop some of them in training, and average the values."""
        return functional.dropout(attention_weights(call), p=call.dropout) @ call.value


def attention_weights(call: AttentionCall) -> Float[Tensor, "batch head query key"]:
    """Give the weights: rows sum to 1, or are all 0 where a query may see nothing."""
    mask = call.mask()
    scores = _log_products(call, call.pattern.features) if isinstance(call.pattern, Linear) else _scores(call)
    # -inf is safe in every precision because rows without any visible key are put to zero afterwards.
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
    return weights.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0).to(call.query.dtype)


def _scores(call: AttentionCall) -> Float[Tensor, "batch head query key"]:
    """Give scaled products and bias in fp32 or better: half precision cannot hold sums of thousands of weights."""
    scores = call.query @ call.key.transpose(-2, -1) / math.sqrt(call.query.shape[-1])
    exact, bias = scores.to(torch.promote_types(scores.dtype, torch.float32)), call.written_bias()
    return exact if bias is None else exact + bias


def _log_products(call: AttentionCall, features: FeatureMap) -> Float[Tensor, "batch head query key"]:
    """Give log(features(query) . features(key)) in fp32 or better, whose softmax are the weights in proportion."""
    exact = torch.promote_types(call.query.dtype, torch.float32)
    with torch.autocast(call.query.device.type, enabled=False):
        keys = features.of_keys(call.key.to(exact))
        products = features.of_queries(call.query.to(exact)) @ keys.values.transpose(-2, -1)
        logarithms = products.clamp(min=torch.finfo(exact).tiny).log()
        return logarithms if keys.log_scale is None else logarithms + keys.log_scale.unsqueeze(-2)
