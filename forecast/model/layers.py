"""Layers of encoder and decoder: attention and feed-forward, each inside a normalised residual."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal

from jaxtyping import Bool, Float
from pydantic import NonNegativeFloat, PositiveInt
from torch import Tensor, nn

from forecast.attention.cache import KeysValues
from forecast.attention.choice import Backend
from forecast.attention.multihead import MultiHeadAttention
from forecast.attention.patterns import Full, Pattern
from forecast.attention.relation import Stand
from forecast.config import config
from forecast.feedforward import FeedForward, Gelu
from forecast.model.checkpointing import Checkpointing, recomputed
from forecast.position import NoPosition, Position

Sublayer = Callable[[Tensor], Tensor]

UNPLACED = NoPosition()
ORIGIN = Stand()


@config
class LayerConfig:
    """What every layer of encoder and decoder is made of."""

    d_model: PositiveInt = 64
    """Width of a token."""

    num_heads: PositiveInt = 4

    feed_forward: FeedForward = Gelu()

    norm: Literal["layer", "rms"] = "layer"

    norm_position: Literal["pre", "post"] = "pre"
    """Before the sublayer (Xiong et al. 2020), or after the residual as in the original."""

    dropout: NonNegativeFloat = 0.1
    """On what a sublayer adds to the residual, and inside the feed-forward."""

    attention_dropout: NonNegativeFloat = 0.0
    """On the softmax weights; above 0 the fused CPU kernel is not used and memory grows with length squared."""

    attention_backend: Backend = "auto"

    checkpointing: Checkpointing = "none"
    """What training computes again in place of keeping it: nothing; all but attention, which takes less than half of
    the memory of a long context and next to no time; or a layer whole, which takes the least memory and costs a fifth
    of the speed."""

    def attention(self, pattern: Pattern, *, position: Position) -> MultiHeadAttention:
        """Build one attention."""
        return MultiHeadAttention(
            self.d_model,
            num_heads=self.num_heads,
            pattern=pattern,
            backend=self.attention_backend,
            dropout=self.attention_dropout,
            relation=position.relate(self.num_heads, head_dim=self.d_model // self.num_heads),
        )

    def normalisation(self) -> nn.Module:
        """Build one normalisation."""
        return nn.LayerNorm(self.d_model) if self.norm == "layer" else nn.RMSNorm(self.d_model)

    def residual(self) -> "PreNorm | PostNorm":
        """Build one residual branch."""
        branch = PreNorm if self.norm_position == "pre" else PostNorm
        return branch(self.normalisation(), dropout=self.dropout)

    def final_norm(self) -> nn.Module:
        """Build what ends a stack: Pre-LN leaves its sum unnormalised, Post-LN does not."""
        return self.normalisation() if self.norm_position == "pre" else nn.Identity()


class PreNorm(nn.Module):
    """tokens + sublayer(norm(tokens))."""

    def __init__(self, norm: nn.Module, *, dropout: float):
        super().__init__()
        self.norm = norm
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Float[Tensor, "batch token d_model"], sublayer: Sublayer) -> Tensor:
        """Add what the sublayer makes of the normalised tokens."""
        return tokens + self.dropout(sublayer(self.norm(tokens)))


class PostNorm(nn.Module):
    """norm(tokens + sublayer(tokens))."""

    def __init__(self, norm: nn.Module, *, dropout: float):
        super().__init__()
        self.norm = norm
        self.dropout = nn.Dropout(dropout)

    def forward(self, tokens: Float[Tensor, "batch token d_model"], sublayer: Sublayer) -> Tensor:
        """Normalise the sum of tokens and what the sublayer makes of them."""
        return self.norm(tokens + self.dropout(sublayer(tokens)))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, layer: LayerConfig, *, pattern: Pattern, position: Position = UNPLACED):
        super().__init__()
        self.attention = layer.attention(pattern, position=position)
        self.feed_forward = layer.feed_forward.build(layer.d_model, dropout=layer.dropout)
        self.around_attention = layer.residual()
        self.around_feed_forward = layer.residual()
        self.checkpointing: Checkpointing = layer.checkpointing

    def forward(
        self, tokens: Float[Tensor, "batch token d_model"], *, observed: Bool[Tensor, "batch token"] | None
    ) -> Float[Tensor, "batch token d_model"]:
        """Mix the observed tokens, then each on its own."""
        return recomputed(self._mix, tokens, checkpointing=self.checkpointing, observed=observed)

    def _mix(self, tokens: Tensor, *, observed: Tensor | None) -> Tensor:
        tokens = self.around_attention(tokens, partial(self._look, observed=observed))
        return self.around_feed_forward(tokens, self.feed_forward)

    def _look(self, normed: Tensor, *, observed: Tensor | None) -> Tensor:
        return self.attention(normed, self.attention.project(normed), key_observed=observed)


class DecoderLayer(nn.Module):
    """Self-attention among the horizon, cross-attention to the context, then feed-forward."""

    def __init__(self, layer: LayerConfig, *, pattern: Pattern, position: Position = UNPLACED):
        super().__init__()
        self.self_attention = layer.attention(pattern, position=position)
        self.cross_attention = layer.attention(Full(), position=position)
        self.feed_forward = layer.feed_forward.build(layer.d_model, dropout=layer.dropout)
        self.around_self_attention = layer.residual()
        self.around_cross_attention = layer.residual()
        self.around_feed_forward = layer.residual()

    def project_memory(self, memory: Float[Tensor, "batch memory d_model"]) -> KeysValues:
        """Project the encoder's tokens as this layer will look at them."""
        return self.cross_attention.project(memory, stand=Stand(first=-float(memory.shape[1])))

    def forward(
        self,
        tokens: Float[Tensor, "batch token d_model"],
        *,
        memory: KeysValues,
        memory_observed: Bool[Tensor, "batch memory"] | None,
        own: Stand = ORIGIN,
        ahead: Stand = ORIGIN,
    ) -> Float[Tensor, "batch token d_model"]:
        """Decode all tokens at once; token by token `Stepwise` does the same.

        They stand at `own` among themselves and at `ahead` behind the memory, counted in tokens of it from its end.
        """
        beside = ahead.moved(float(memory.keys.shape[2]))
        look_back = partial(self.cross_attention, seen=memory, key_observed=memory_observed, stand=ahead, beside=beside)
        tokens = self.around_self_attention(tokens, partial(self._look_around, own=own))
        tokens = self.around_cross_attention(tokens, look_back)
        return self.around_feed_forward(tokens, self.feed_forward)

    def _look_around(self, normed: Tensor, *, own: Stand) -> Tensor:
        return self.self_attention(normed, self.self_attention.project(normed, stand=own), stand=own)


class LayerList(nn.ModuleList):
    """Decoder layers in order, known as such to the type checker."""

    def __iter__(self) -> Iterator[DecoderLayer]:
        return super().__iter__()  # ty: ignore[invalid-explicit-return]


class DecoderStack(nn.Module):
    """Decoder layers over one memory."""

    def __init__(self, layer: LayerConfig, *, num_layers: int, pattern: Pattern, position: Position = UNPLACED):
        super().__init__()
        self.layers = LayerList(DecoderLayer(layer, pattern=pattern, position=position) for _ in range(num_layers))
        self.norm = layer.final_norm()
        self.checkpointing: Checkpointing = layer.checkpointing

    def project_memory(self, memory: Float[Tensor, "batch memory d_model"]) -> list[KeysValues]:
        """Project the context once a layer."""
        return [layer.project_memory(memory) for layer in self.layers]

    def forward(
        self,
        tokens: Float[Tensor, "batch token d_model"],
        *,
        memory: list[KeysValues],
        memory_observed: Bool[Tensor, "batch memory"] | None,
        own: Stand = ORIGIN,
        ahead: Stand = ORIGIN,
    ) -> Float[Tensor, "batch token d_model"]:
        """Decode tokens through all layers; see `DecoderLayer` for where they stand."""
        for number, layer in enumerate(self.layers):
            look = partial(layer, memory=memory[number], memory_observed=memory_observed, own=own, ahead=ahead)
            tokens = recomputed(look, tokens, checkpointing=self.checkpointing)
        return self.norm(tokens)
