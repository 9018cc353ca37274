"""The autoregressive decoder: taught with the target shifted right by one patch, rolled out over a cache.

Teacher forcing: Williams & Zipser (1989). The decoder starts from the label, the newest known steps, in place of a
start token; output patch k sees the context, the label and target patches before k only.
"""

from typing import Literal, Self

import torch
from jaxtyping import Float, Float64
from pydantic import PositiveInt, model_validator
from torch import Tensor, nn
from torch.nn import functional

from forecast.attention.patterns import AnyPattern, Causal
from forecast.attention.relation import Stand
from forecast.config import config
from forecast.losses import Head
from forecast.model.decoding.base import Decoder, Known, Setting, Target
from forecast.model.decoding.shown import Patches, Shown, lay_patches
from forecast.model.encoder import add_static
from forecast.model.layers import DecoderStack
from forecast.model.patching import PatchEmbedding, num_patches, patch_from_left
from forecast.model.stepwise import Stepwise


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
                f"'local' with right 0, or 'sparse' or 'linear' with causal true"
            )
        if (self.label_length or self.patch_length) % self.patch_length:
            raise ValueError(f"label_length {self.label_length} must be a multiple of patch_length {self.patch_length}")
        return self

    def build(self, setting: Setting) -> Decoder:
        """Build the decoder for a trained horizon."""
        return AutoregressiveDecoder(setting, self)


class AutoregressiveDecoder(Decoder):
    """Causal self-attention over label and target patches, cross-attention to the context."""

    def __init__(self, setting: Setting, config: Autoregressive):
        super().__init__()
        d_model, patch_length = setting.layer.d_model, config.patch_length
        num_label_patches = (config.label_length or patch_length) // patch_length
        self.num_passes = num_patches(setting.horizon, patch_length=patch_length)
        num_positions = num_label_patches + self.num_passes - 1
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
        patches = self.lay(known)
        shown = self._shifted(patches, target)
        places = self.position(torch.arange(shown.values.shape[1], device=shown.values.device))
        tokens = self.embed(shown, known.static, places)
        memory = self.stack.project_memory(known.memory.tokens)
        decoded = self.stack(tokens, memory=memory, memory_observed=known.memory.observed, ahead=self.ahead)
        first = self.num_label_patches
        drafts, ahead = patches.beside(first, tokens.shape[1] + 1)
        return self.output(decoded[:, first - 1 :], drafts, ahead)[:, : target.future.shape[1]]

    def roll_out(self, known: Known, *, horizon: int) -> Float[Tensor, "batch {horizon} parameter"]:
        """Decode patch by patch, feeding back the location; each step computes its own patch only."""
        count = num_patches(horizon, patch_length=self.patch_length)
        unrolling = Unrolling(self, known, count=count)
        forecast = [unrolling.begin()]
        while len(forecast) < count:
            forecast.append(unrolling.go_on(forecast[-1][..., 0]))
        return torch.cat(forecast, dim=1)[:, :horizon]

    def sample(
        self, known: Known, *, levels: Float64[Tensor, "batch path horizon"], head: Head
    ) -> Float[Tensor, "batch path horizon"]:
        """Decode all paths of all series in one batch, feeding back to each what was drawn for it."""
        num_series, num_paths, horizon = levels.shape
        count = num_patches(horizon, patch_length=self.patch_length)
        levels = functional.pad(levels, (0, count * self.patch_length - horizon), value=0.5)
        each = levels.split(self.patch_length, dim=-1)
        unrolling = Unrolling(self, known, count=count)
        values = [head.sample(unrolling.begin()[:, None], each[0])]
        unrolling.fork(num_paths)
        while len(values) < count:
            parameters = unrolling.go_on(values[-1].flatten(0, 1)).unflatten(0, (num_series, num_paths))
            values.append(head.sample(parameters, each[len(values)]))
        return torch.cat(values, dim=-1)[..., :horizon]

    def lay(self, known: Known) -> Patches:
        """Cut what is known of a window into the decoder's patches."""
        return lay_patches(known, patch_length=self.patch_length, label_length=self.label_length)

    def embed(
        self,
        shown: Shown,
        static: Float[Tensor, "batch d_model"] | None,
        places: Float[Tensor, "patch d_model"],
    ) -> Float[Tensor, "batch patch d_model"]:
        """Make patches to tokens; `places` is what is added for where they stand."""
        return self.dropout(add_static(self.embedding(shown.features()) + places, static))

    def _shifted(self, patches: Patches, target: Target) -> Shown:
        """Show label and target patches but the last, which nothing is forecast from."""
        future = patch_from_left(target.future * target.future_observed, patch_length=self.patch_length)
        future_observed = patch_from_left(target.future_observed, patch_length=self.patch_length)
        values = torch.cat([patches.label, future], dim=1)[:, :-1]
        observed = torch.cat([patches.label_observed, future_observed], dim=1)[:, :-1]
        return patches.show(values, observed, first=0)


class Unrolling:
    """A roll-out under way: it is fed patch after patch, and gives the parameters of the one that follows each.

    It begins with one row a series; after `fork` each series has several, which share memory and past.
    """

    def __init__(self, decoder: AutoregressiveDecoder, known: Known, *, count: int):
        self.decoder = decoder
        self.patches = decoder.lay(known)
        self.static = known.static
        num_tokens = decoder.num_label_patches + count - 1
        self.stack = Stepwise(decoder.stack, known.memory.tokens, known.memory.observed, capacity=num_tokens)
        self.places = decoder.position(torch.arange(num_tokens, device=known.past.device))
        self.position = 0

    def begin(self) -> Float[Tensor, "row step parameter"]:
        """Give the parameters of the first patch, from the label."""
        return self._decode(self.patches.show(self.patches.label, self.patches.label_observed, first=0))

    def go_on(self, values: Float[Tensor, "row step"]) -> Float[Tensor, "row step parameter"]:
        """Take the values of the patch asked for last, and give the parameters of the next."""
        fed = values[:, None]
        return self._decode(self.patches.show(fed, torch.ones_like(fed, dtype=torch.bool), first=self.position))

    def fork(self, num_paths: int) -> None:
        """Let each series go several ways, in rows one beside the other."""
        self.stack.fork(num_paths)
        self.patches = self.patches.repeated(num_paths)
        self.static = None if self.static is None else self.static.repeat_interleave(num_paths, dim=0)

    def _decode(self, shown: Shown) -> Float[Tensor, "row step parameter"]:
        decoder, first = self.decoder, self.position
        self.position += shown.values.shape[1]
        tokens = decoder.embed(shown, self.static, self.places[first : self.position])
        ahead = decoder.ahead.moved(first * decoder.ahead.step)
        decoded = self.stack.decode(tokens, own=Stand(first=float(first)), ahead=ahead)
        return decoder.output(decoded[:, -1:], *self.patches.beside(self.position, self.position + 1))
