"""The one-shot decoder: one query a patch of the horizon, all decoded together."""

from typing import Literal

import torch
from jaxtyping import Float
from pydantic import PositiveInt
from torch import Tensor, nn

from forecast.attention.pattern import Full
from forecast.config import config
from forecast.model.decoding.base import Decoder, Known, Setting, Target
from forecast.model.encoder import add_static
from forecast.model.layers import DecoderStack
from forecast.model.patching import PatchEmbedding, num_patches, patch_from_left


@config
class Direct:
    """Decodes the whole horizon in one pass from positions, context and draft; nothing is fed back."""

    kind: Literal["direct"] = "direct"

    patch_length: PositiveInt = 1
    """Steps a query."""

    num_layers: PositiveInt = 1

    def build(self, setting: Setting) -> Decoder:
        """Build the decoder for a trained horizon."""
        return DirectDecoder(setting, patch_length=self.patch_length, num_layers=self.num_layers)


class DirectDecoder(Decoder):
    """Horizon queries that see each other and the context."""

    def __init__(self, setting: Setting, *, patch_length: int, num_layers: int):
        super().__init__()
        d_model = setting.layer.d_model
        self.patch_length = patch_length
        self.num_queries = num_patches(setting.horizon, patch_length=patch_length)
        self.position = setting.position.build(d_model, num_positions=self.num_queries)
        self.output = setting.output(patch_length=patch_length)
        self.query = nn.Parameter(torch.zeros(d_model))
        self.draft_embedding = PatchEmbedding(patch_length, d_model) if setting.has_draft else None
        num_ahead = setting.num_ahead * patch_length
        self.covariate_embedding = PatchEmbedding(num_ahead, d_model) if num_ahead else None
        self.dropout = nn.Dropout(setting.layer.dropout)
        self.stack = DecoderStack(setting.layer, num_layers=num_layers, pattern=Full())

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
        ahead = None if known.ahead is None else patch_from_left(known.ahead, patch_length=self.patch_length)
        positions = torch.arange(self.num_queries, device=known.past.device)
        queries = (self.query + self.position(positions)).expand(len(known.past), -1, -1)
        if drafts is not None and self.draft_embedding is not None:
            queries = queries + self.draft_embedding(drafts)
        if ahead is not None and self.covariate_embedding is not None:
            queries = queries + self.covariate_embedding(ahead)
        queries = self.dropout(add_static(queries, known.static))
        memory = self.stack.project_memory(known.memory.tokens)
        decoded = self.stack(queries, memory=memory, memory_observed=known.memory.observed)
        return self.output(decoded, drafts, ahead)
