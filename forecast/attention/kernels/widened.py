"""Queries and keys widened by columns whose products are a bias: a fused kernel adds it, and nothing is written out.

The columns go first. Where a kernel sums the products of a row from its first column on, the large numbers for the
places of key and query cancel before the small ones of their contents are added: the fp32 error is then that of a bias
written out. Processors that sum in another order lose about one digit at 2,048 tokens; columns behind lose two.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from forecast.attention.call import AttentionCall
from forecast.attention.patterns import Causal

SHORTEST = 256  # tokens; widening copies queries and keys, and for fewer a bias written out is faster (CPU, measured)
ALIGNMENT_BYTES = 16  # CUDA kernels want rows of a multiple of it, and CPU ones are faster so
HALVES = (torch.bfloat16, torch.float16)
RADIX = 256.0  # bf16 holds whole numbers up to it; larger places are split at it
HALF_REACH = 130_000  # tokens whose places, counted from the middle, fit into fp16
PENALTY = 2.0**23  # on the score of a hidden key: far beyond scores, yet a row of hidden keys alone stays finite
OWN_FACTOR = 2.0**13  # the query's factor of it: the penalty does not fit into fp16, both factors do


@dataclass(frozen=True, eq=False)
class Columns:
    """Columns whose products are added to those of queries and keys; sizes of 1 are broadcast."""

    query: Float[Tensor, "#batch #head #query column"]
    key: Float[Tensor, "#batch #head #key column"]


@dataclass(frozen=True, eq=False)
class Widened:
    """Queries, keys and values of one width, as fused CPU kernels want them."""

    query: Float[Tensor, "batch head query width"]
    key: Float[Tensor, "batch head key width"]
    value: Float[Tensor, "batch head key width"]
    first: int
    """Where queries and keys themselves begin, behind the columns."""
    factor: float
    """What the queries were multiplied with."""
    scale: float
    """What is left to be multiplied with the products."""


def widen(call: AttentionCall, columns: Sequence[Columns]) -> Widened:
    """Put columns before queries and keys, and zeros behind what is narrower than the widest.

    Products are scaled by the queries where rounding allows: a kernel that scales the queries on its own would round
    the columns, and what cancels would not cancel any more.
    """
    first = sum(some.query.shape[-1] for some in columns)
    width = _aligned(max(first + call.key.shape[-1], call.value.shape[-1]), call.query.element_size())
    scale = _left_scale(call)
    factor = _scale(call) / scale
    query = _beside([some.query for some in columns], call.query * factor, width=width)
    key = _beside([some.key for some in columns], call.key, width=width)
    return Widened(query, key, pad(call.value, width), first=first, factor=factor, scale=scale)


def _aligned(width: int, element_size: int) -> int:
    unit = ALIGNMENT_BYTES // element_size
    return -(-width // unit) * unit


def pad(rows: Float[Tensor, "batch head token width"], width: int) -> Float[Tensor, "batch head token wider"]:
    """Put zeros behind each row."""
    return functional.pad(rows, (0, width - rows.shape[-1]))


def hidden_columns(call: AttentionCall) -> list[Columns]:
    """Give the column under which hidden keys get no weight at all; none where nothing is hidden.

    A row that sees hidden keys alone weighs them as if they were seen: its output has to be put to zero.
    """
    if call.key_observed is None:
        return []
    own = call.query.new_full((1, 1, 1, 1), OWN_FACTOR)
    other = torch.where(call.key_observed, 0.0, -PENALTY / OWN_FACTOR / _left_scale(call)).to(own)
    return [Columns(own, other[:, None, :, None])]


def slope_columns(
    call: AttentionCall,
    slopes: Float[Tensor, " head"],
    *,
    queries: Float[Tensor, " query"],
    keys: Float[Tensor, " key"],
) -> Columns:
    """Give columns that add slope * (key place - query place) to scaled scores; gradients reach the slopes.

    Softmax does not see what a whole row shares; the place of the query is there for exactness. Slopes are split into
    a short number, whose products with places are exact, and a rest; half-precision places into digits.
    """
    dtype, middle = call.query.dtype, call.num_keys // 2
    is_half = dtype in HALVES
    steep = (slopes.to(exact(dtype)) / _left_scale(call)).unsqueeze(-1)
    short, rest = split(steep, (dtype if is_half else torch.bfloat16, dtype))
    queries, keys = queries - middle, keys - middle
    if is_half:
        first, second, third = split(-steep * queries / RADIX, (dtype, dtype, dtype))
        high = torch.floor(keys / RADIX) * RADIX
        unit = torch.full_like(keys, RADIX)
        beside_query = [short, short, first, rest, rest, second, third]
        beside_key = [high, keys - high, unit, high, keys - high, unit, unit]
    else:
        beside_query = [short, -short * queries, rest, -rest * queries]
        beside_key = [keys, torch.ones_like(keys)] * 2
    heads, count = len(slopes), len(queries)
    query = torch.stack([column.to(dtype).expand(heads, count) for column in beside_query], dim=-1)
    key = torch.stack([column.to(dtype) for column in beside_key], dim=-1)
    return Columns(query.unsqueeze(0), key[None, None])


def split(number: Float[Tensor, "..."], dtypes: Sequence[torch.dtype]) -> list[Tensor]:
    """Give numbers that sum up to `number`, one a precision, each as much of the rest as it holds.

    The last takes all of the gradient, because rounding has none.
    """
    parts = []
    for dtype in dtypes[:-1]:
        parts.append(number.detach().to(dtype).to(number.dtype))
        number = number - parts[-1]
    return [*parts, number]


def attend_widened(
    call: AttentionCall, columns: Sequence[Columns] = (), *, mask: Tensor | None = None, is_causal: bool = False
) -> Float[Tensor, "batch head query value_dim"]:
    """Attend with columns or a mask, or both, instead of the call's bias and hidden keys.

    The call is one `in_run_precision`; a mask stays in its own. What queries that see nothing get is left to `blinded`.
    """
    is_bare = not columns and call.key.shape[-1] == call.value.shape[-1]
    wide = _as_it_is(call) if is_bare else widen(call, columns)
    with torch.autocast(call.query.device.type, enabled=False):
        output = functional.scaled_dot_product_attention(
            wide.query,
            wide.key,
            wide.value,
            attn_mask=mask,
            dropout_p=call.dropout,
            is_causal=is_causal,
            scale=wide.scale,
        )
    return output[..., : call.value.shape[-1]]


def blinded(call: AttentionCall, output: Tensor) -> Tensor:
    """Put to zero the output of queries that see no observed key; the pattern is full or causal."""
    if call.key_observed is None:
        return output
    if isinstance(call.pattern, Causal):
        seen = (call.key_observed.cumsum(dim=1) > 0)[:, -call.num_queries :]
    else:
        seen = call.key_observed.any(dim=1, keepdim=True)
    return output.masked_fill(~seen[:, None, :, None], 0.0)


def in_run_precision(call: AttentionCall) -> AttentionCall:
    """Give the call in the precision that attention runs in.

    Columns have to be made for it: rounded afterwards they would lose the places.
    """
    return in_precision(call, run_precision(call))


def run_precision(call: AttentionCall) -> torch.dtype:
    """Give the precision of autocast where it is on and may round, else that of the call."""
    device, own = call.query.device.type, call.query.dtype
    is_rounded = torch.is_autocast_enabled(device) and own != torch.float64
    return torch.get_autocast_dtype(device) if is_rounded else own


def in_precision(call: AttentionCall, dtype: torch.dtype) -> AttentionCall:
    """Give the call with queries, keys and values of a precision."""
    query, key, value = (tensor.to(dtype) for tensor in (call.query, call.key, call.value))
    return replace(call, query=query, key=key, value=value)


def pays(call: AttentionCall) -> bool:
    """Whether there are so many pairs of queries and keys that widening costs less than writing a bias out."""
    return call.num_queries * call.num_keys >= SHORTEST**2


def fits(call: AttentionCall) -> bool:
    """Whether the places of all keys have columns in the precision of the call."""
    return call.query.dtype not in HALVES or call.num_keys <= HALF_REACH


def is_trained(parameter: Tensor) -> bool:
    """Whether a gradient is to reach it; a mask that carries one sends PyTorch to a kernel of quadratic memory."""
    return parameter.requires_grad and torch.is_grad_enabled()


def mask_dtype(call: AttentionCall) -> torch.dtype:
    """Give the precision a mask may have: CPU kernels add fp32 to half-precision scores, others want one dtype."""
    return exact(call.query.dtype) if call.query.device.type == "cpu" else call.query.dtype


def exact(dtype: torch.dtype) -> torch.dtype:
    """Give fp32, or what is wider."""
    return torch.promote_types(dtype, torch.float32)


def _as_it_is(call: AttentionCall) -> Widened:
    return Widened(call.query, call.key, call.value, first=0, factor=1.0, scale=_scale(call))


def _scale(call: AttentionCall) -> float:
    return call.key.shape[-1] ** -0.5


def _left_scale(call: AttentionCall) -> float:
    """Give what products of widened rows have to be scaled by: half-precision queries would be rounded by it."""
    return _scale(call) if call.query.dtype in HALVES else 1.0


def _beside(columns: Sequence[Tensor], rows: Tensor, *, width: int) -> Tensor:
    spread = [some.expand(*rows.shape[:3], -1) for some in columns]
    room = width - rows.shape[-1] - sum(some.shape[-1] for some in columns)
    return torch.cat([*spread, rows, rows.new_zeros(1).expand(*rows.shape[:3], room)], dim=-1)
