"""Which operator of xformers serves a call: its own dispatcher is asked, once for all calls alike.

It asks tensors for nothing but their kind, so that tests can hold its answers for a GPU without having one.
"""

import importlib
from collections.abc import Hashable
from functools import cache
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from forecast.attention.call import AttentionCall
from forecast.attention.kernels.gradient import needs_gradient
from forecast.errors import BackendUnavailable

MOST_ANSWERS = 4096  # remembered; decoding asks for each length once


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


def operators(call: AttentionCall, bias: Any) -> tuple[str, str | None]:
    """Give the names of the operators of the forward pass and, where there will be one, the backward pass.

    Raises:
        NotImplementedError: there is none; carries the reasons of each.
    """
    module, trains = fmha(), needs_gradient(call)
    with torch.no_grad():  # nothing is computed, and so no gradient is to come back
        query, key, value = (tensor.transpose(1, 2) for tensor in (call.query, call.key, call.value))
    inputs = module.Inputs(query=query, key=key, value=value, attn_bias=bias, p=call.dropout)
    forward = module.dispatch._dispatch_fw(inputs, needs_gradient=trains)
    backward = module.dispatch._dispatch_bw(inputs, False) if trains else None
    return str(forward.NAME), None if backward is None else str(backward.NAME)


def refused(call: AttentionCall, bias: Any) -> str | None:
    """Say why no operator serves a call with such a bias; None where one does."""
    asked = _kind(call, bias)
    if asked not in _answers:
        if len(_answers) >= MOST_ANSWERS:
            _answers.clear()
        _answers[asked] = _ask(call, bias)
    return _answers[asked]


_answers: dict[Hashable, str | None] = {}


def _ask(call: AttentionCall, bias: Any) -> str | None:
    try:
        operators(call, bias)
    except NotImplementedError as failure:
        return f"no operator of xformers serves this call ({failure}); use backend 'sdpa'"
    return None


def _kind(call: AttentionCall, bias: Any) -> Hashable:
    """Give all that operators ask of a call."""
    tensors = [call.query, call.key, call.value, *([bias] if isinstance(bias, Tensor) else [])]
    layouts = tuple((tensor.shape, tensor.stride(), tensor.dtype, tensor.device) for tensor in tensors)
    bias_trains = isinstance(bias, Tensor) and bias.requires_grad
    return layouts, type(bias), bias_trains, needs_gradient(call), call.dropout > 0
