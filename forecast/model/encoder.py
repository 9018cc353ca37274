"""The encoder: a context of any length as tokens that know each other."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from forecast.attention.patterns import Pattern
from forecast.model.channels import ChannelMixing
from forecast.model.layers import EncoderLayer, LayerConfig
from forecast.model.patching import PatchEmbedding, patch_from_right
from forecast.position import Position


@dataclass(frozen=True, eq=False)
class Memory:
    """The encoded context; `observed` is None where every token holds an observed step."""

    tokens: Float[Tensor, "batch token d_model"]
    observed: Bool[Tensor, "batch token"] | None


class Encoder(nn.Module):
    """Patches of the past, positions counted back from the newest, self-attention layers."""

    def __init__(
        self,
        layer: LayerConfig,
        *,
        patch_length: int,
        num_layers: int,
        position: Position,
        num_positions: int,
        pattern: Pattern,
        num_covariate_features: int = 0,
        mixing: ChannelMixing | None = None,
    ):
        super().__init__()
        self.patch_length = patch_length
        self.embedding = PatchEmbedding((2 + num_covariate_features) * patch_length, layer.d_model)
        self.position = position.build(layer.d_model, num_positions=num_positions)
        self.dropout = nn.Dropout(layer.dropout)
        self.layers = nn.ModuleList(EncoderLayer(layer, pattern=pattern, position=position) for _ in range(num_layers))
        self.norm = layer.final_norm()
        self.mixing = mixing

    def forward(
        self,
        past: Float[Tensor, "batch context"],
        observed: Bool[Tensor, "batch context"],
        *,
        beside: Float[Tensor, "batch context feature"] | None = None,
        static: Float[Tensor, "batch d_model"] | None = None,
        hides_none: bool | None = None,
    ) -> Memory:
        """Encode the scaled past; patches without any observed step are hidden from every attention.

        `hides_none` says whether there are none of them, where that is known: the data are not asked then.
        """
        values = patch_from_right(past * observed, patch_length=self.patch_length)
        seen = patch_from_right(observed, patch_length=self.patch_length)
        token_observed = seen.any(dim=-1)
        if bool(token_observed.all()) if hides_none is None else hides_none:
            token_observed = None  # a mask that hides nothing would cost the fused kernels their fast path
        # Position 0 is the newest patch, so that a token means the same in contexts of every length.
        ages = torch.arange(values.shape[1] - 1, -1, -1, device=past.device)
        features = [values, seen.to(values.dtype)]
        if beside is not None:
            features.append(patch_from_right(beside, patch_length=self.patch_length))
        tokens = self.embedding(torch.cat(features, dim=-1)) + self.position(ages)
        tokens = self.dropout(add_static(tokens, static))
        if self.mixing is not None:
            tokens = self.mixing.tell_apart(tokens)
        for number, layer in enumerate(self.layers):
            tokens = layer(tokens, observed=token_observed)
            if self.mixing is not None:
                tokens = self.mixing.mix(tokens, number=number, observed=token_observed)
        return Memory(self.norm(tokens), token_observed)

    def hides_none(self, observed: Bool[Tensor, "batch context"]) -> bool:
        """Tell whether every patch of the past holds an observed step."""
        return bool(patch_from_right(observed, patch_length=self.patch_length).any(dim=-1).all())


def add_static(
    tokens: Float[Tensor, "batch token d_model"], static: Float[Tensor, "batch d_model"] | None
) -> Float[Tensor, "batch token d_model"]:
    """Tell every token of a series what is known of the series."""
    return tokens if static is None else tokens + static[:, None]
