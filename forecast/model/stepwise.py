"""The decoder stack token by token: over caches, and with nothing around the arithmetic that one token would feel."""

from dataclasses import replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from forecast.attention.cache import KeysValues, cache_for
from forecast.attention.call import AttentionCall
from forecast.attention.choice import attend, choose
from forecast.attention.multihead import MultiHeadAttention
from forecast.attention.patterns import Linear
from forecast.attention.relation import Stand
from forecast.attention.state import LinearState
from forecast.model.layers import ORIGIN, DecoderLayer, DecoderStack, PostNorm, PreNorm
from forecast.model.lean import lean, lean_beside, unchanged


class Stepwise:
    """A stack bound to its memory: tokens come in stretches, and each computes what the full pass would.

    It is made for the weights as they are, and used up by one roll-out.
    """

    def __init__(
        self,
        stack: DecoderStack,
        memory: Float[Tensor, "series memory d_model"],
        observed: Bool[Tensor, "series memory"] | None,
        *,
        capacity: int,
    ):
        """Take a memory, and make room for at most `capacity` tokens."""
        self.layers = [StepwiseLayer(layer, memory, observed, capacity=capacity) for layer in stack.layers]
        self.norm = lean(stack.norm)

    def decode(
        self, tokens: Float[Tensor, "row token d_model"], *, own: Stand = ORIGIN, ahead: Stand = ORIGIN
    ) -> Float[Tensor, "row token d_model"]:
        """Decode the tokens that come next; see `DecoderLayer` for where they stand."""
        for layer in self.layers:
            tokens = layer.decode(tokens, own=own, ahead=ahead)
        return self.norm(tokens)

    def fork(self, num_paths: int) -> None:
        """Let each row go several ways, one beside the other, which take one token at a time from here on.

        They share the memory of their series, which is held once.
        """
        for layer in self.layers:
            layer.past.fork(num_paths)


class StepwiseLayer:
    """A decoder layer with its weights, memory and past at hand."""

    def __init__(self, layer: DecoderLayer, memory: Tensor, observed: Tensor | None, *, capacity: int):
        own, cross = layer.self_attention, layer.cross_attention
        self.memory, self.observed = layer.project_memory(memory), observed
        self.own, self.cross = Look(own), Look(cross)
        self.past = past_of(self.own, capacity=capacity)
        self.project = lean_beside([own.queries, own.keys, own.values])
        self.project_query = lean(cross.queries)
        self.around_own = Around(layer.around_self_attention)
        self.around_cross = Around(layer.around_cross_attention)
        self.around_feed_forward = Around(layer.around_feed_forward)
        self.feed_forward = lean(layer.feed_forward)

    def decode(self, tokens: Tensor, *, own: Stand, ahead: Stand) -> Tensor:
        """Look at the tokens so far, then at the memory, then feed forward."""
        tokens = self.around_own.add(tokens, self._look_around(self.around_own.before(tokens), own))
        tokens = self.around_cross.add(tokens, self._look_back(self.around_cross.before(tokens), ahead))
        return self.around_feed_forward.add(tokens, self.feed_forward(self.around_feed_forward.before(tokens)))

    def _look_around(self, normed: Tensor, own: Stand) -> Tensor:
        query, key, value = map(self.own.split, self.project(normed))
        new = KeysValues(self.own.relation.rotate(key, own), value)
        return self.own.merge(self.past.look(query, new, stand=own))

    def _look_back(self, normed: Tensor, ahead: Stand) -> Tensor:
        """Let the paths of a series look at its memory together, as queries of one row that stand at one place."""
        num_series, _, num_keys, _ = self.memory.keys.shape
        together = normed
        if len(normed) != num_series:
            together, ahead = normed.view(num_series, -1, normed.shape[2]), replace(ahead, step=0.0)
        query = self.cross.split(self.project_query(together))
        beside = ahead.moved(float(num_keys))
        call = self.cross.call(self.memory, query, stand=ahead, beside=beside, observed=self.observed)
        return self.cross.merge(attend(call, backend=self.cross.backend)).view(normed.shape)


class Look:
    """One attention with its parts at hand."""

    def __init__(self, attention: MultiHeadAttention):
        self.num_heads, self.pattern, self.backend = attention.num_heads, attention.pattern, attention.backend
        self.dropout = attention.dropout if attention.training else 0.0
        self.relation = attention.relation
        self.output = lean(attention.output)

    def split(self, projected: Float[Tensor, "row token width"]) -> Float[Tensor, "row head token head_width"]:
        """Split what was projected into heads."""
        rows, count, width = projected.shape
        return projected.view(rows, count, self.num_heads, width // self.num_heads).transpose(1, 2)

    def call(
        self,
        seen: KeysValues,
        query: Tensor,
        *,
        stand: Stand,
        beside: Stand | None = None,
        observed: Tensor | None = None,
    ) -> AttentionCall:
        """Say how queries look at what is seen, as `MultiHeadAttention` does."""
        return AttentionCall(
            query=self.relation.rotate(query, stand),
            key=seen.keys,
            value=seen.values,
            pattern=self.pattern,
            key_observed=observed,
            dropout=self.dropout,
            bias=self.relation.bias(),
            stand=beside,
        )

    def merge(self, heads: Float[Tensor, "row head token head_width"]) -> Float[Tensor, "row token d_model"]:
        """Make one token again of what the heads found."""
        return self.output(heads.transpose(1, 2).flatten(2))


class CachedPast:
    """What later tokens may look at, as keys and values."""

    def __init__(self, look: Look, *, capacity: int):
        self.attention, self.cache = look, cache_for(look.pattern, capacity=capacity)

    def look(self, query: Tensor, new: KeysValues, *, stand: Stand) -> Float[Tensor, "row head token head_width"]:
        """Take new keys in, and let their queries look at all so far."""
        call = self.attention.call(self.cache.append(new), query, stand=stand)
        return attend(call, backend=self.attention.backend)

    def fork(self, num_paths: int) -> None:
        """Let each row go several ways."""
        self.cache.repeat(num_paths)


class SummedPast:
    """The same for linear attention: a state whose size and cost do not grow with the horizon."""

    def __init__(self, look: Look, pattern: Linear):
        self.attention, self.state = look, LinearState(pattern.features)

    def look(self, query: Tensor, new: KeysValues, *, stand: Stand) -> Float[Tensor, "row head token head_width"]:
        """Take new keys in, and let their queries look at all so far.

        Raises:
            BackendUnavailable: the backend asked for cannot compute this.
        """
        call = self.attention.call(new, query, stand=stand)
        choose(call, backend=self.attention.backend)
        return self.state.step(call.query, call.key, call.value)

    def fork(self, num_paths: int) -> None:
        """Let each row go several ways."""
        if self.state.summary is not None and num_paths > 1:
            sums = self.state.summary.sums
            self.state = self.state.rows(torch.arange(len(sums), device=sums.device).repeat_interleave(num_paths))


def past_of(look: Look, *, capacity: int) -> CachedPast | SummedPast:
    """Give what an attention needs of the tokens so far: a cache, or sums where it is linear.

    The reference computes linear attention as it is written down, from all keys.
    """
    if isinstance(look.pattern, Linear) and look.backend != "reference":
        return SummedPast(look, look.pattern)
    return CachedPast(look, capacity=capacity)


class Around:
    """A residual in two halves: what the sublayer is given, and what becomes of what it gives."""

    def __init__(self, branch: PreNorm | PostNorm):
        norm, self.dropout = lean(branch.norm), lean(branch.dropout)
        self.before, self.after = (norm, unchanged) if isinstance(branch, PreNorm) else (unchanged, norm)

    def add(self, tokens: Tensor, found: Tensor) -> Tensor:
        """Add what the sublayer found."""
        return self.after(tokens + self.dropout(found))
