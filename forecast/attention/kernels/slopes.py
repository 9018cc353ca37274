"""The bias along slopes where queries look back: distances have one sign, and no query x key tensor is needed.

-slope * (query place - key place) is slope * key place but for what a whole row shares, which the softmax does not
see. Where queries see all keys that is one number a key; where they see those up to their own place it is the product
of columns beside queries and keys.
"""

import torch
from torch import Tensor

from forecast.attention.biases import SlopeBias
from forecast.attention.call import AttentionCall
from forecast.attention.kernels.widened import (
    Columns,
    attend_widened,
    blinded,
    fits,
    hidden_columns,
    in_run_precision,
    is_trained,
    mask_dtype,
    pays,
    slope_columns,
)
from forecast.attention.patterns import Causal, Full
from forecast.attention.relation import Stand


def slopes(call: AttentionCall) -> Tensor | None:
    """Attend along slopes where no query sees a key that stands behind it."""
    bias = call.bias
    if not isinstance(bias, SlopeBias) or not call.looks_back:
        return None
    call = in_run_precision(call)
    if _sees_all(call) and not is_trained(bias.slopes):
        return blinded(call, attend_widened(call, mask=_numbers(call, bias)))
    if not (_sees_all(call) or _is_square_causal(call)) or not _is_worth_columns(call, bias) or not fits(call):
        return None
    return blinded(call, attend_widened(call, _columns(call, bias), is_causal=not _sees_all(call)))


def _is_worth_columns(call: AttentionCall, bias: SlopeBias) -> bool:
    """Whether hidden keys or trained slopes need columns as well: else a CPU is faster with `mirrored`."""
    is_bare = call.key_observed is None and not is_trained(bias.slopes) and call.query.device.type == "cpu"
    return pays(call) and not is_bare


def _sees_all(call: AttentionCall) -> bool:
    return isinstance(call.pattern, Full) or (isinstance(call.pattern, Causal) and call.num_queries == 1)


def _is_square_causal(call: AttentionCall) -> bool:
    return isinstance(call.pattern, Causal) and call.stand is None and call.num_queries == call.num_keys


def _numbers(call: AttentionCall, bias: SlopeBias) -> Tensor:
    """Give one number a head and key, counted from the last key; those of hidden keys are -inf."""
    places = Stand(first=1.0 - call.num_keys).places(call.num_keys, device=call.key.device)
    numbers = (bias.slopes.to(mask_dtype(call)).unsqueeze(-1) * places)[None, :, None, :]
    if call.key_observed is None:
        return numbers
    # A row of -inf alone would have no gradient, not even a zero one: where all is hidden nothing is.
    hidden = ~call.key_observed & call.key_observed.any(dim=1, keepdim=True)
    return numbers.masked_fill(hidden[:, None, None, :], -torch.inf)


def _columns(call: AttentionCall, bias: SlopeBias) -> list[Columns]:
    stand = call.stand or Stand(first=float(call.num_keys - call.num_queries))
    queries = stand.places(call.num_queries, device=call.key.device)
    keys = Stand().places(call.num_keys, device=call.key.device)
    return [slope_columns(call, bias.slopes, queries=queries, keys=keys), *hidden_columns(call)]
