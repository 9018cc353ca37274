"""The encoder: a context of any length as tokens that know each other."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from forecast.attention.pattern import Full
from forecast.model.layers import EncoderLayer, LayerConfig
from forecast.model.patching import PatchEmbedding, patch_from_right
from forecast.position import PositionEncoding


@dataclass(frozen=True, eq=False)
class Memory:
    """The encoded context; `observed` is None where every token holds an observed step."""

    tokens: Float[Tensor, "batch token d_model"]
    observed: Bool[Tensor, "batch token"] | None


class Encoder(nn.Module):
    """Patches of the past, positions counted back from the newest, self-attention layers."""

    def __init__(self, layer: LayerConfig, *, patch_length: int, num_layers: int, position: PositionEncoding):
        super().__init__()
        self.patch_length = patch_length
        self.embedding = PatchEmbedding(2 * patch_length, layer.d_model)
        self.position = position
        self.dropout = nn.Dropout(layer.dropout)
        self.layers = nn.ModuleList(EncoderLayer(layer, pattern=Full()) for _ in range(num_layers))
        self.norm = layer.final_norm()

    def forward(self, past: Float[Tensor, "batch context"], observed: Bool[Tensor, "batch context"]) -> Memory:
        """Encode the scaled past; patches without any observed step are hidden from every attention."""
        values = patch_from_right(past * observed, patch_length=self.patch_length)
        seen = patch_from_right(observed, patch_length=self.patch_length)
        token_observed = _none_if_all(seen.any(dim=-1))
        # Position 0 is the newest patch, so that a token means the same in contexts of every length.
        ages = torch.arange(values.shape[1] - 1, -1, -1, device=past.device)
        tokens = self.embedding(torch.cat([values, seen.to(values.dtype)], dim=-1)) + self.position(ages)
        tokens = self.dropout(tokens)
        for layer in self.layers:
            tokens = layer(tokens, observed=token_observed)
        return Memory(self.norm(tokens), token_observed)


def _none_if_all(observed: Bool[Tensor, "batch token"]) -> Bool[Tensor, "batch token"] | None:
    """A mask that hides nothing would cost the fused kernels their fast path."""
    return None if bool(observed.all()) else observed
