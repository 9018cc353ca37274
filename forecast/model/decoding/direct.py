"""The one-shot decoder: one query a patch of the horizon, all decoded together."""

from typing import Literal

import torch
from jaxtyping import Float, Float64
from pydantic import PositiveInt
from torch import Tensor, nn

from forecast.attention.patterns import AnyPattern, Full
from forecast.config import config
from forecast.losses import Head
from forecast.model.decoding.base import Decoder, Known, Setting, Target
from forecast.model.encoder import add_static
from forecast.model.layers import DecoderStack
from forecast.model.patching import PatchEmbedding, num_patches, patch_from_left
from forecast.position import Learned


@config
class Direct:
    """Decodes the whole horizon in one pass from positions, context and draft; nothing is fed back."""

    kind: Literal["direct"] = "direct"

    patch_length: PositiveInt = 1
    """Steps a query."""

    num_layers: PositiveInt = 1

    pattern: AnyPattern = Full()
    """Which queries of the horizon see each other."""

    def build(self, setting: Setting) -> Decoder:
        """Build the decoder for a trained horizon."""
        return DirectDecoder(setting, self)


class DirectDecoder(Decoder):
    """Horizon queries that see each other and the context."""

    def __init__(self, setting: Setting, config: Direct):
        super().__init__()
        d_model, patch_length = setting.layer.d_model, config.patch_length
        self.patch_length = patch_length
        self.num_queries = num_patches(setting.horizon, patch_length=patch_length)
        # Queries are alike but for this: where a scheme adds nothing to tokens, a table of their fixed number does.
        scheme = setting.position if setting.position.adds else Learned()
        self.position = scheme.build(d_model, num_positions=self.num_queries)
        self.ahead = setting.ahead(patch_length=patch_length, first_patch=0)
        self.output = setting.output(patch_length=patch_length)
        self.query = nn.Parameter(torch.zeros(d_model))
        self.draft_embedding = PatchEmbedding(patch_length, d_model) if setting.has_draft else None
        num_ahead = setting.num_ahead * patch_length
        self.covariate_embedding = PatchEmbedding(num_ahead, d_model) if num_ahead else None
        self.dropout = nn.Dropout(setting.layer.dropout)
        self.stack = DecoderStack(
            setting.layer, num_layers=config.num_layers, pattern=config.pattern, position=setting.position
        )

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

    def sample(
        self, known: Known, *, levels: Float64[Tensor, "batch path horizon"], head: Head
    ) -> Float[Tensor, "batch path horizon"]:
        """Decode the horizon once and draw all paths from it."""
        return head.sample(self.roll_out(known, horizon=levels.shape[2])[:, None], levels)

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
        decoded = self.stack(queries, memory=memory, memory_observed=known.memory.observed, ahead=self.ahead)
        return self.output(decoded, drafts, ahead)
