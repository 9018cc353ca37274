"""Channels that see each other: attention between the targets of one entity, at each stretch of time.

Source: the second stage of Zhang & Yan, "Crossformer" (2023), section 3.2, with full attention in place of its routers.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from forecast.attention.patterns import Full
from forecast.model.layers import EncoderLayer, LayerConfig


class ChannelMixing(nn.Module):
    """One attention layer across the channels for each layer along time; rows of a batch are whole entities."""

    def __init__(self, layer: LayerConfig, *, num_channels: int, num_layers: int):
        super().__init__()
        self.num_channels = num_channels
        self.names = nn.Parameter(torch.empty(num_channels, layer.d_model).normal_(std=0.02))
        self.layers = nn.ModuleList(EncoderLayer(layer, pattern=Full()) for _ in range(num_layers))

    def tell_apart(self, tokens: Float[Tensor, "batch token d_model"]) -> Float[Tensor, "batch token d_model"]:
        """Tell every token which channel it is of."""
        count = len(tokens) // self.num_channels
        return tokens + self.names.repeat(count, 1)[:, None]

    def mix(
        self, tokens: Float[Tensor, "batch token d_model"], *, number: int, observed: Bool[Tensor, "batch token"] | None
    ) -> Float[Tensor, "batch token d_model"]:
        """Let the channels of each entity see each other through the layer of that number."""
        assert len(tokens) % self.num_channels == 0, "a batch must hold whole entities"
        across = None if observed is None else self._across(observed)
        mixed = self.layers[number](self._across(tokens), observed=across)
        return mixed.unflatten(0, (-1, tokens.shape[1])).transpose(1, 2).flatten(0, 1)

    def _across(self, tokens: Tensor) -> Tensor:
        """Give a row for each entity and stretch of time, with a token a channel."""
        return tokens.unflatten(0, (-1, self.num_channels)).transpose(1, 2).flatten(0, 1)
