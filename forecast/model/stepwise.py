"""The decoder stack token by token: over caches, and with nothing around the arithmetic that one token would feel."""

from dataclasses import replace

from jaxtyping import Bool, Float
from torch import Tensor

from forecast.attention.cache import KeysValues, cache_for
from forecast.attention.call import AttentionCall
from forecast.attention.choice import attend
from forecast.attention.multihead import MultiHeadAttention
from forecast.attention.relation import Stand
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
            layer.cache.repeat(num_paths)


class StepwiseLayer:
    """A decoder layer with its weights, memory and cache at hand."""

    def __init__(self, layer: DecoderLayer, memory: Tensor, observed: Tensor | None, *, capacity: int):
        own, cross = layer.self_attention, layer.cross_attention
        self.memory, self.observed = layer.project_memory(memory), observed
        self.cache = cache_for(own.pattern, capacity=capacity)
        self.project = lean_beside([own.queries, own.keys, own.values])
        self.project_query = lean(cross.queries)
        self.own, self.cross = Look(own), Look(cross)
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
        seen = self.cache.append(KeysValues(self.own.relation.rotate(key, own), value))
        return self.own.at(seen, query, stand=own)

    def _look_back(self, normed: Tensor, ahead: Stand) -> Tensor:
        """Let the paths of a series look at its memory together, as queries of one row that stand at one place."""
        num_series, _, num_keys, _ = self.memory.keys.shape
        together = normed
        if len(normed) != num_series:
            together, ahead = normed.view(num_series, -1, normed.shape[2]), replace(ahead, step=0.0)
        query = self.cross.split(self.project_query(together))
        beside = ahead.moved(float(num_keys))
        return self.cross.at(self.memory, query, stand=ahead, beside=beside, observed=self.observed).view(normed.shape)


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

    def at(
        self,
        seen: KeysValues,
        query: Tensor,
        *,
        stand: Stand,
        beside: Stand | None = None,
        observed: Tensor | None = None,
    ) -> Float[Tensor, "row token d_model"]:
        """Let queries look, as `MultiHeadAttention` does."""
        call = AttentionCall(
            query=self.relation.rotate(query, stand),
            key=seen.keys,
            value=seen.values,
            pattern=self.pattern,
            key_observed=observed,
            dropout=self.dropout,
            bias=self.relation.bias(),
            stand=beside,
        )
        return self.output(attend(call, backend=self.backend).transpose(1, 2).flatten(2))


class Around:
    """A residual in two halves: what the sublayer is given, and what becomes of what it gives."""

    def __init__(self, branch: PreNorm | PostNorm):
        norm, self.dropout = lean(branch.norm), lean(branch.dropout)
        self.before, self.after = (norm, unchanged) if isinstance(branch, PreNorm) else (unchanged, norm)

    def add(self, tokens: Tensor, found: Tensor) -> Tensor:
        """Add what the sublayer found."""
        return self.after(tokens + self.dropout(found))
