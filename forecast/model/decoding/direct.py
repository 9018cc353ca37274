"""The one-shot decoder: one query a patch of the horizon, all decoded together."""

from typing import Literal

import torch
from jaxtyping import Float
from pydantic import PositiveInt
from torch import Tensor, nn

from forecast.attention.pattern import Full
from forecast.config import config
from forecast.model.decoding.base import Decoder, Known, PatchOutput, Target
from forecast.model.layers import DecoderStack, LayerConfig
from forecast.model.patching import PatchEmbedding, num_patches, patch_from_left
from forecast.position import Position, PositionEncoding


@config
class Direct:
    """Decodes the whole horizon in one pass from positions, context and draft; nothing is fed back."""

    kind: Literal["direct"] = "direct"

    patch_length: PositiveInt = 1
    """Steps a query."""

    num_layers: PositiveInt = 1

    def build(
        self, layer: LayerConfig, *, position: Position, horizon: int, num_parameters: int, has_draft: bool
    ) -> Decoder:
        """Build the decoder for a trained horizon."""
        num_queries = num_patches(horizon, patch_length=self.patch_length)
        return DirectDecoder(
            layer,
            patch_length=self.patch_length,
            num_queries=num_queries,
            num_layers=self.num_layers,
            position=position.build(layer.d_model, num_positions=num_queries),
            output=PatchOutput(
                layer.d_model,
                patch_length=self.patch_length,
                num_parameters=num_parameters,
                refines_draft=has_draft,
            ),
            has_draft=has_draft,
        )


class DirectDecoder(Decoder):
    """Horizon queries that see each other and the context."""

    def __init__(
        self,
        layer: LayerConfig,
        *,
        patch_length: int,
        num_queries: int,
        num_layers: int,
        position: PositionEncoding,
        output: PatchOutput,
        has_draft: bool,
    ):
        super().__init__()
        self.patch_length = patch_length
        self.num_queries = num_queries
        self.query = nn.Parameter(torch.zeros(layer.d_model))
        self.draft_embedding = PatchEmbedding(patch_length, layer.d_model) if has_draft else None
        self.position = position
        self.dropout = nn.Dropout(layer.dropout)
        self.stack = DecoderStack(layer, num_layers=num_layers, pattern=Full())
        self.output = output

    @property
    def label_length(self) -> int:
        """None: the queries start from their positions."""
        return 0

    def teach(self, known: Known, target: Target) -> Float[Tensor, "batch horizon parameter"]:
        """Decode the horizon; the target is not shown."""
        return self._decode(known)[:, : target.future.shape[1]]

    def roll_out(self, known: Known, *, horizon: int) -> Float[Tensor, "batch {horizon} parameter"]:
        """Decode the trained horizon and give its first steps: queries see each other, so their number is fixed."""
        return self._decode(known)[:, :horizon]

    def _decode(self, known: Known) -> Float[Tensor, "batch step parameter"]:
        drafts = None if known.draft is None else patch_from_left(known.draft, patch_length=self.patch_length)
        positions = torch.arange(self.num_queries, device=known.past.device)
        queries = (self.query + self.position(positions)).expand(len(known.past), -1, -1)
        if drafts is not None and self.draft_embedding is not None:
            queries = queries + self.draft_embedding(drafts)
        memory = self.stack.project_memory(known.memory.tokens)
        decoded = self.stack(self.dropout(queries), memory=memory, memory_observed=known.memory.observed)
        return self.output(decoded, drafts)
