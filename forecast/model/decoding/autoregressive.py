"""The autoregressive decoder: taught with the target shifted right by one patch, rolled out over a cache.

Teacher forcing: Williams & Zipser (1989). The decoder starts from the label, the newest known steps, in place of a
start token; output patch k sees the context, the label and target patches before k only.
"""

from dataclasses import dataclass
from typing import Literal, Self

import torch
from jaxtyping import Bool, Float
from pydantic import PositiveInt, model_validator
from torch import Tensor, nn
from torch.nn import functional

from forecast.attention.cache import Cache
from forecast.attention.patterns import AnyPattern, Causal
from forecast.attention.relation import Stand
from forecast.config import config
from forecast.model.decoding.base import Decoder, Known, Setting, Target
from forecast.model.encoder import add_static
from forecast.model.layers import DecoderStack
from forecast.model.patching import PatchEmbedding, num_patches, patch_from_left, patch_from_right


@config
class Autoregressive:
    """Decodes patch by patch, each from those before it."""

    kind: Literal["autoregressive"] = "autoregressive"

    patch_length: PositiveInt = 1
    """Steps decoded at once; few large patches drift less over a long horizon than many small ones."""

    label_length: PositiveInt | None = None
    """Known steps that start the decoder, a multiple of patch_length; one patch where not given."""

    num_layers: PositiveInt = 1

    pattern: AnyPattern = Causal()
    """Which patches before it a patch sees."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.pattern.looks_ahead:
            raise ValueError(
                f"decoder 'autoregressive' cannot look ahead and pattern {self.pattern.kind!r} does; choose 'causal', "
                f"'local' with right 0, or 'sparse' with causal true"
            )
        if (self.label_length or self.patch_length) % self.patch_length:
            raise ValueError(f"label_length {self.label_length} must be a multiple of patch_length {self.patch_length}")
        return self

    def build(self, setting: Setting) -> Decoder:
        """Build the decoder for a trained horizon."""
        return AutoregressiveDecoder(setting, self)


@dataclass(frozen=True, eq=False)
class Shown:
    """Patches as the decoder is shown them, [batch, patch, width] each."""

    values: Tensor
    observed: Tensor
    drafted: Tensor | None
    """The draft of the patch itself: what it missed is shown."""
    coming: Tensor | None
    """The draft of the patch to be forecast from here."""
    ahead: Tensor | None
    """The covariates of that patch that are known ahead."""

    def features(self) -> Float[Tensor, "batch patch feature"]:
        """Lay everything known of a patch side by side."""
        parts = [self.values, self.observed.to(self.values.dtype)]
        if self.drafted is not None and self.coming is not None:
            parts += [(self.values - self.drafted) * self.observed, self.coming]
        if self.ahead is not None:
            parts.append(self.ahead)
        return torch.cat(parts, dim=-1)


class AutoregressiveDecoder(Decoder):
    """Causal self-attention over label and target patches, cross-attention to the context."""

    def __init__(self, setting: Setting, config: Autoregressive):
        super().__init__()
        d_model, patch_length = setting.layer.d_model, config.patch_length
        num_label_patches = (config.label_length or patch_length) // patch_length
        num_positions = num_label_patches + num_patches(setting.horizon, patch_length=patch_length) - 1
        num_features = (4 if setting.has_draft else 2) + setting.num_ahead
        self.patch_length = patch_length
        self.num_label_patches = num_label_patches
        self.position = setting.position.build(d_model, num_positions=num_positions)
        self.output = setting.output(patch_length=patch_length)
        self.embedding = PatchEmbedding(num_features * patch_length, d_model)
        self.dropout = nn.Dropout(setting.layer.dropout)
        self.stack = DecoderStack(
            setting.layer, num_layers=config.num_layers, pattern=config.pattern, position=setting.position
        )
        # A token stands where the patch lies that is forecast from it.
        self.ahead = setting.ahead(patch_length=patch_length, first_patch=1 - num_label_patches)

    @property
    def label_length(self) -> int:
        """Steps of the label patches."""
        return self.num_label_patches * self.patch_length

    def teach(self, known: Known, target: Target) -> Float[Tensor, "batch horizon parameter"]:
        """Decode all patches in one pass; the causal pattern hides from each what it must forecast."""
        horizon = target.future.shape[1]
        shown, drafts = self._shifted(known, target)
        tokens = self._embed(shown, known, first_position=0)
        memory = self.stack.project_memory(known.memory.tokens)
        decoded = self.stack(tokens, memory=memory, memory_observed=known.memory.observed, ahead=self.ahead)
        first = self.num_label_patches - 1
        ahead = None if shown.ahead is None else shown.ahead[:, first:]
        return self.output(decoded[:, first:], drafts, ahead)[:, :horizon]

    def roll_out(self, known: Known, *, horizon: int) -> Float[Tensor, "batch {horizon} parameter"]:
        """Decode patch by patch, feeding back the location; each step computes its own patch only."""
        count = num_patches(horizon, patch_length=self.patch_length)
        drafts, ahead = self._draft_patches(known.draft, count), self._ahead_patches(known)
        memory = self.stack.project_memory(known.memory.tokens)
        capacity = self.num_label_patches + count - 1
        caches = Cache.for_layers(len(self.stack.layers), capacity=capacity)
        shown, position, forecast = self._label(known, drafts, ahead), 0, []
        for patch in range(count):
            tokens = self._embed(shown, known, first_position=position)
            decoded = self.stack(
                tokens,
                memory=memory,
                memory_observed=known.memory.observed,
                caches=caches,
                own=Stand(first=float(position)),
                ahead=self.ahead.moved(position * self.ahead.step),
            )
            position += tokens.shape[1]
            coming = _patch(ahead, self.num_label_patches + patch)
            forecast.append(self.output(decoded[:, -1:], _patch(drafts, patch), coming))
            shown = Shown(
                values=forecast[-1][..., 0][:, None],
                observed=torch.ones_like(forecast[-1][..., 0][:, None], dtype=torch.bool),
                drafted=_patch(drafts, patch),
                coming=_patch(drafts, patch + 1),
                ahead=_patch(ahead, self.num_label_patches + patch + 1),
            )
        return torch.cat(forecast, dim=1)[:, :horizon]

    def _embed(self, shown: Shown, known: Known, *, first_position: int) -> Float[Tensor, "batch patch d_model"]:
        features = shown.features()
        positions = torch.arange(first_position, first_position + features.shape[1], device=features.device)
        tokens = self.embedding(features) + self.position(positions)
        return self.dropout(add_static(tokens, known.static))

    def _shifted(self, known: Known, target: Target) -> tuple[Shown, Tensor | None]:
        """Give label and target patches but the last, which nothing is forecast from, and the drafts of the horizon."""
        values, observed = self._label_patches(known)
        future = patch_from_left(target.future * target.future_observed, patch_length=self.patch_length)
        future_observed = patch_from_left(target.future_observed, patch_length=self.patch_length)
        drafts = self._draft_patches(known.draft, future.shape[1])
        drafted, ahead = self._drafted(known, drafts), self._ahead_patches(known)
        shown = Shown(
            values=torch.cat([values, future], dim=1)[:, :-1],
            observed=torch.cat([observed, future_observed], dim=1)[:, :-1],
            drafted=None if drafted is None else drafted[:, :-1],
            coming=None if drafted is None else drafted[:, 1:],
            ahead=None if ahead is None else ahead[:, 1:],
        )
        return shown, drafts

    def _label(self, known: Known, drafts: Tensor | None, ahead: Tensor | None) -> Shown:
        values, observed = self._label_patches(known)
        drafted = self._drafted(known, drafts)
        count = self.num_label_patches
        return Shown(
            values=values,
            observed=observed,
            drafted=None if drafted is None else drafted[:, :count],
            coming=None if drafted is None else drafted[:, 1 : count + 1],
            ahead=None if ahead is None else ahead[:, 1 : count + 1],
        )

    def _drafted(self, known: Known, drafts: Tensor | None) -> Float[Tensor, "batch patch width"] | None:
        """Give the drafts of label and horizon in a row."""
        if known.label_draft is None or drafts is None:
            return None
        return torch.cat([patch_from_left(known.label_draft, patch_length=self.patch_length), drafts], dim=1)

    def _label_patches(
        self, known: Known
    ) -> tuple[Float[Tensor, "batch patch width"], Bool[Tensor, "batch patch width"]]:
        length = self.label_length
        missing = max(0, length - known.past.shape[1])
        observed = functional.pad(known.past_observed[:, -length:], (missing, 0))
        values = functional.pad(known.past[:, -length:], (missing, 0)) * observed
        return (
            patch_from_right(values, patch_length=self.patch_length),
            patch_from_right(observed, patch_length=self.patch_length),
        )

    def _draft_patches(self, draft: Tensor | None, count: int) -> Tensor | None:
        return None if draft is None else patch_from_left(draft, patch_length=self.patch_length)[:, :count]

    def _ahead_patches(self, known: Known) -> Float[Tensor, "batch patch width"] | None:
        """Give what is known ahead of the patches of label and horizon in a row."""
        return None if known.ahead is None else patch_from_left(known.ahead, patch_length=self.patch_length)


def _patch(patches: Tensor | None, number: int) -> Tensor | None:
    return None if patches is None else patches[:, number : number + 1]
