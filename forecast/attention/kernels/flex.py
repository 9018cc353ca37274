"""PyTorch's FlexAttention: pattern and bias compiled into the kernel, blocks that nobody looks at left out.

Source: Dong et al., "Flex Attention" (2024). On request alone: the first call of each kind compiles for up to a minute.
"""

import os
import shutil
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention.flex_attention import BlockMask, flex_attention

from forecast.attention.biases import BucketBias, SlopeBias
from forecast.attention.call import AttentionCall
from forecast.attention.kernels.base import Kernel
from forecast.attention.kernels.gradient import needs_gradient
from forecast.attention.patterns import Linear, Pattern
from forecast.attention.patterns.linear import NO_SOFTMAX
from forecast.attention.relation import Stand

BLOCK = 128  # queries and keys of a block, what the kernels are written for
SMALLEST_CUDA_HEAD = 16
DTYPES = (torch.float32, torch.bfloat16, torch.float16)
MOST_COMPILED = 256  # side by side, up to 4 a kind: beyond torch's limit of 8 all pairs are written out in silence
MOST_LAYOUTS = 64  # kept: one a pattern and length


class FlexKernel(Kernel):
    """`flex_attention`: exact for every pattern with a softmax, memory linear in length; on a CPU inference alone."""

    name: ClassVar[str] = "flex"

    def refusal(self, call: AttentionCall) -> str | None:
        """Refuse what it cannot compute, and a machine without the compiler that it needs."""
        device = call.query.device.type
        if isinstance(call.pattern, Linear):
            return NO_SOFTMAX
        if device not in ("cpu", "cuda"):
            return f"FlexAttention is not tried on {device} here; use backend 'sdpa'"
        if call.dropout:
            return "FlexAttention drops no weights; set attention_dropout to 0, or use backend 'sdpa'"
        if call.query.dtype not in DTYPES:
            return f"FlexAttention does not compute in {call.query.dtype}; use backend 'sdpa'"
        return _refusal_on_cpu(call) if device == "cpu" else _refusal_on_cuda(call)

    def run(self, call: AttentionCall) -> Float[Tensor, "batch head query value_dim"]:
        """Compile the call's kind at its first call, and compute."""
        kind = Kind(call.pattern, type(call.bias), hides_keys=call.key_observed is not None)
        seen = block_mask(call.pattern, call.num_queries, call.num_keys, call.query.device)
        with _compiling_many():
            return compiled(kind)(call.query, call.key, call.value, score_mod=score_of(call), block_mask=seen)


@dataclass(frozen=True)
class Kind:
    """What is compiled apart; lengths, places and numbers of a bias are told to what was compiled."""

    pattern: Pattern
    bias: type
    hides_keys: bool


@cache
def compiled(_kind: Kind) -> Callable[..., Any]:
    """Give FlexAttention compiled for one kind of call and every length; whatever cannot be compiled is an error."""
    return torch.compile(flex_attention, dynamic=True, fullgraph=True)


def score_of(call: AttentionCall) -> Callable[..., Tensor] | None:
    """Give what is added to each score as FlexAttention asks for it, one pair of query and key at a time."""
    if call.bias is None and call.key_observed is None:
        return None
    biased, observed = _biased(call), call.key_observed

    def score(product: Tensor, batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        added = product if biased is None else product + biased(head, query, key)
        return added if observed is None else torch.where(observed[batch, key], added, -torch.inf)

    return score


def _biased(call: AttentionCall) -> Callable[..., Tensor] | None:
    """Give the bias of a head and pair; `Bias.score` gives those of all heads at once, which is no single number."""
    bias = call.bias
    if bias is None:
        return None
    stand = call.stand or Stand(first=float(call.num_keys - call.num_queries))
    place = torch.tensor([stand.first, stand.step], device=call.query.device)
    if isinstance(bias, SlopeBias):
        slopes = bias.slopes
        return lambda head, query, key: -slopes[head] * (place[0] + place[1] * query - key).abs()
    assert isinstance(bias, BucketBias), f"{type(bias).__name__} has no form for FlexAttention"
    table, bucket = bias.table, bias.bucket
    return lambda head, query, key: table[head, bucket(key - place[0] - place[1] * query)]


class Seen(nn.Module):
    """The pattern as FlexAttention asks for it, one pair of query and key at a time.

    Lengths are tensors, so that no length is compiled in, and the pattern is the attribute of a module, so that all of
    its numbers are: the compiler takes any other number for one that may change, and kernels take no such number.
    """

    def __init__(self, pattern: Pattern, *, num_queries: int, num_keys: int, device: torch.device):
        super().__init__()
        self.pattern: Any = pattern
        self.lengths = torch.tensor([num_keys - num_queries, num_keys], device=device)

    def as_function(self) -> Callable[..., Tensor]:
        """Give what a `BlockMask` takes."""

        def seen(_batch: Tensor, _head: Tensor, query: Tensor, key: Tensor) -> Tensor:
            return self.pattern.may_look(query + self.lengths[0], key, num_keys=self.lengths[1])

        return seen


@lru_cache(maxsize=MOST_LAYOUTS)
def block_mask(pattern: Pattern, num_queries: int, num_keys: int, device: torch.device) -> BlockMask:
    """Give which blocks of keys each block of queries sees, in part or as a whole."""
    with torch.inference_mode(False), torch.no_grad():  # it is kept for calls of either kind
        seen = count_seen(pattern, num_queries, num_keys, device)
        whole = seen == BLOCK * BLOCK
        return BlockMask.from_kv_blocks(
            *_listed((seen > 0) & ~whole),
            *_listed(whole),
            BLOCK_SIZE=BLOCK,
            mask_mod=Seen(pattern, num_queries=num_queries, num_keys=num_keys, device=device).as_function(),
            seq_lengths=(num_queries, num_keys),
        )


def count_seen(
    pattern: Pattern, num_queries: int, num_keys: int, device: torch.device
) -> Int64[Tensor, "query_block key_block"]:
    """Count the pairs of each block that see each other, one block of queries after the other to save memory."""
    keys = torch.arange(num_keys, device=device)
    counts = []
    for first in range(num_keys - num_queries, num_keys, BLOCK):
        queries = torch.arange(first, min(first + BLOCK, num_keys), device=device)
        seen = pattern.may_look(queries.unsqueeze(1), keys.unsqueeze(0), num_keys=num_keys).sum(dim=0)
        counts.append(functional.pad(seen, (0, -num_keys % BLOCK)).unflatten(0, (-1, BLOCK)).sum(dim=1))
    return torch.stack(counts)


def _listed(chosen: Bool[Tensor, "query_block key_block"]) -> tuple[Tensor, Tensor]:
    """Give how many are chosen in each row and their numbers, those that are not behind them."""
    numbers = torch.argsort((~chosen).to(torch.int8), dim=1, stable=True)
    counts = chosen.sum(dim=1)
    return counts.to(torch.int32)[None, None], numbers.to(torch.int32)[None, None]


@contextmanager
def _compiling_many() -> Generator[None]:
    """Allow as many kinds as there may be, and make it an error where one more would not be compiled."""
    # Imported at use: it takes seconds, and no other kernel needs it.
    import torch._dynamo

    with torch._dynamo.config.patch(
        recompile_limit=MOST_COMPILED, accumulated_recompile_limit=MOST_COMPILED, fail_on_recompile_limit_hit=True
    ):
        yield


def _refusal_on_cpu(call: AttentionCall) -> str | None:
    if needs_gradient(call):
        return "FlexAttention has no backward pass on a CPU (pytorch#148752); use backend 'sdpa' to train"
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None:
        return f"FlexAttention is compiled and there is no {compiler!r} here; install one, or use backend 'sdpa'"
    return None


def _refusal_on_cuda(call: AttentionCall) -> str | None:
    narrowest = min(call.key.shape[-1], call.value.shape[-1])
    if narrowest < SMALLEST_CUDA_HEAD:
        return (
            f"FlexAttention needs heads of {SMALLEST_CUDA_HEAD} or wider on CUDA and these have {narrowest}; use fewer "
            f"heads, or backend 'sdpa'"
        )
    if find_spec("triton") is None:
        return "FlexAttention is compiled by Triton, which is not here; run `pip install triton`, or use backend 'sdpa'"
    return None
