"""Whether a call is asked for a gradient, on which the choice of a kernel may turn."""

import torch
from torch import Tensor

from forecast.attention.biases import Bias
from forecast.attention.call import AttentionCall


def needs_gradient(call: AttentionCall) -> bool:
    """Tell whether a gradient is to reach queries, keys, values or the bias."""
    tensors = (call.query, call.key, call.value)
    return torch.is_grad_enabled() and (any(tensor.requires_grad for tensor in tensors) or trains_bias(call))


def trains_bias(call: AttentionCall) -> bool:
    """Tell whether a gradient is to reach the numbers of the bias."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in _tensors(call.bias))


def _tensors(bias: Bias | None) -> list[Tensor]:
    return [] if bias is None else [held for held in vars(bias).values() if isinstance(held, Tensor)]
