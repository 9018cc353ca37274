"""What linear attention keeps of the keys: one sum over all of them, of the same size however many there were."""

from functools import partial
from typing import Any

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from forecast.attention.features import FeatureMap, KeyFeatures
from forecast.attention.summary import Summary, causal_sums, extended, normalised, with_ones

CHUNK = 64
"""Tokens whose pairs a causal pass writes out; a fifth faster than 128 on CPUs, at half the memory."""
SLAB_ROWS = {"cpu": 4096}
"""Tokens, of all heads and series, whose features are held at once: on a CPU as many as stay in its cache."""
SLAB_ROWS_ELSEWHERE = 2**19


class LinearState:
    """The state of linear attention, where attention with a softmax must keep every key and value.

    `step` decodes on, block by block, for ever at constant cost a token; it is the causal pass cut in pieces. What is
    computed is fp32 or better whatever the tensors are in: sums of thousands of keys do not fit half precision.
    """

    def __init__(self, features: FeatureMap):
        self.features = features
        self.length = 0
        self.summary: Summary | None = None

    def step(
        self,
        query: Float[Tensor, "batch head token key_dim"],
        key: Float[Tensor, "batch head token key_dim"],
        value: Float[Tensor, "batch head token value_dim"],
        *,
        key_observed: Bool[Tensor, "batch token"] | None = None,
    ) -> Float[Tensor, "batch head token value_dim"]:
        """Take new tokens in behind those before, and let each look at all up to itself."""
        if key.shape[2] == 1:
            self.take_in(key, value, key_observed=key_observed)
            return self.look(query)
        self.length += key.shape[2]
        slabs = _slabs(key)
        # Pairs take more memory than all else: of many slabs, training computes them again on the way back.
        anew = len(slabs) > 2 and torch.is_grad_enabled()
        run = partial(checkpoint, self._causal, use_reentrant=False) if anew else self._causal
        outputs = []
        with _full_precision(query):
            for part in zip(*(_cut(rows, slabs) for rows in (query, key, value, key_observed)), strict=True):
                output, self.summary = run(*part, self.summary)
                outputs.append(output)
            return torch.cat(outputs, dim=2)

    def take_in(
        self,
        key: Float[Tensor, "batch head key key_dim"],
        value: Float[Tensor, "batch head key value_dim"],
        *,
        key_observed: Bool[Tensor, "batch key"] | None = None,
    ) -> None:
        """Take new keys in, behind those before, without looking."""
        self.length += key.shape[2]
        slabs = _slabs(key)
        with _full_precision(key):
            for part in zip(*(_cut(rows, slabs) for rows in (key, value, key_observed)), strict=True):
                keys, values = self._seen(*part)
                self.summary = extended(self.summary or Summary.of_nothing(keys, values), keys, values)

    def look(self, query: Float[Tensor, "batch head query key_dim"]) -> Float[Tensor, "batch head query value_dim"]:
        """Let queries look at all keys taken in so far.

        Raises:
            RuntimeError: nothing was taken in.
        """
        if self.summary is None:
            raise RuntimeError("the state is empty; call take_in or step before look")
        sums = self.summary.sums
        with _full_precision(query):
            parts = (self.features.of_queries(_precise(part)) @ sums for part in _cut(query, _slabs(query)))
            return torch.cat([normalised(totals).to(query.dtype) for totals in parts], dim=2)

    def rows(self, chosen: Int64[Tensor, " chosen"]) -> "LinearState":
        """Give a state that goes on by itself from the chosen batch rows; a row may be chosen several times."""
        state = LinearState(self.features)
        state.length, state.summary = self.length, self.summary and self.summary.rows(chosen)
        return state

    def _causal(
        self, query: Tensor, key: Tensor, value: Tensor, observed: Tensor | None, before: Summary | None
    ) -> tuple[Tensor, Summary]:
        keys, values = self._seen(key, value, observed)
        before = before or Summary.of_nothing(keys, values)
        chunk = min(CHUNK, key.shape[2])
        totals, after = causal_sums(self.features.of_queries(_precise(query)), keys, values, before, chunk=chunk)
        return normalised(totals).to(value.dtype), after

    def _seen(self, key: Tensor, value: Tensor, observed: Tensor | None) -> tuple[KeyFeatures, Tensor]:
        keys = self.features.of_keys(_precise(key))
        return keys if observed is None else keys.without_scale_of(~observed), with_ones(_precise(value), observed)


def _slabs(tokens: Float[Tensor, "batch head token dim"]) -> list[int]:
    """Cut the tokens to slabs of whole chunks, and the rest to one chunk: the lengths of all."""
    batch, heads, length, _ = tokens.shape
    rows = SLAB_ROWS.get(tokens.device.type, SLAB_ROWS_ELSEWHERE)
    slab = max(4, rows // (batch * heads * CHUNK)) * CHUNK  # of shorter ones the sums would outweigh the tokens
    whole, rest = length - length % CHUNK, length % CHUNK
    return [*(min(slab, whole - first) for first in range(0, whole, slab)), *([rest] if rest else [])]


def _cut(tensor: Tensor | None, slabs: list[int]) -> list[Any]:
    """Cut a tensor along its tokens, the second dimension of a mask and the third of all else."""
    if tensor is None:
        return [None] * len(slabs)
    return list(tensor.split(slabs, dim=min(2, tensor.ndim - 1)))


def _precise(tensor: Tensor) -> Tensor:
    return tensor.to(torch.promote_types(tensor.dtype, torch.float32))


def _full_precision(like: Tensor) -> torch.autocast:
    """Keep autocast from rounding the sums."""
    return torch.autocast(like.device.type, enabled=False)
