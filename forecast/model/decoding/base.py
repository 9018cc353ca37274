"""What a decoder is: it gives the head's parameters for the horizon, taught with the target or on its own."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor, nn

from forecast.attention.relation import Stand
from forecast.losses import Head
from forecast.model.encoder import Memory
from forecast.model.layers import LayerConfig
from forecast.position import Position


@dataclass(frozen=True, eq=False, kw_only=True)
class Given:
    """What encoder and decoder are given of a window before the first forecast step, in scaled units."""

    past: Float[Tensor, "batch context"]
    past_observed: Bool[Tensor, "batch context"]
    draft: Float[Tensor, "batch horizon"] | None = None
    """The closed-form forecast to be refined, where the model has one."""
    label_draft: Float[Tensor, "batch label"] | None = None
    """What the draft forecast for the label, the newest known steps, before it was known: its misses tend to last."""
    beside: Float[Tensor, "batch context context_feature"] | None = None
    """Covariates of each step of the past, as features."""
    ahead: Float[Tensor, "batch step feature"] | None = None
    """Covariates known ahead of the steps of label and horizon, as features."""
    static: Float[Tensor, "batch d_model"] | None = None
    """What is known of the series, ready to be added to its tokens."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Known(Given):
    """What a decoder knows of a window: what was given, and what the encoder made of it."""

    memory: Memory


@dataclass(frozen=True, eq=False)
class Target:
    """What a taught decoder is shown of the horizon, one patch late, in scaled units."""

    future: Float[Tensor, "batch horizon"]
    future_observed: Bool[Tensor, "batch horizon"]


@dataclass(frozen=True, eq=False)
class Setting:
    """What every decoder is built for."""

    layer: LayerConfig
    position: Position
    horizon: int
    context_patch_length: int
    """Steps of one token of the encoder."""
    num_parameters: int
    """Of the head, a step."""
    has_draft: bool
    num_ahead: int = 0
    """Features of a step that are known ahead."""

    def ahead(self, *, patch_length: int, first_patch: int) -> Stand:
        """Give where the patches of a decoder stand behind the context, in tokens of the encoder."""
        step = patch_length / self.context_patch_length
        return Stand(first=first_patch * step, step=step)

    def output(self, *, patch_length: int) -> "PatchOutput":
        """Build the last layer of a decoder."""
        return PatchOutput(
            self.layer.d_model,
            patch_length=patch_length,
            num_parameters=self.num_parameters,
            refines_draft=self.has_draft,
            num_ahead=self.num_ahead,
        )


class Decoder(nn.Module, ABC):
    """Gives parameters [batch, horizon, parameter]; the first is the location."""

    num_passes: int = 1
    """How often the layers run, one time after the other, for the trained horizon."""

    @property
    @abstractmethod
    def label_length(self) -> int:
        """Number of newest known steps that start the decoder; 0 for one that starts from nothing."""

    @abstractmethod
    def teach(self, known: Known, target: Target) -> Float[Tensor, "batch horizon parameter"]:
        """Give the parameters of every step while earlier target steps are shown (training)."""

    @abstractmethod
    def roll_out(self, known: Known, *, horizon: int) -> Float[Tensor, "batch {horizon} parameter"]:
        """Give the parameters of every step from what is known alone (inference)."""

    @abstractmethod
    def sample(
        self, known: Known, *, levels: Float64[Tensor, "batch path horizon"], head: Head
    ) -> Float[Tensor, "batch path horizon"]:
        """Give sample paths: the value of every step at the level drawn for it, given what was drawn before it.

        Steps that are decoded together are drawn apart from each other: how they hang together is not forecast.
        """


class PatchOutput(nn.Module):
    """The last layer: tokens to the parameters of their patch's steps, added to the draft where there is one.

    What is known ahead of a step also has a way of its own to that step's parameters, past all tokens, as in Das et
    al., "Long-term Forecasting with TiDE" (2023), section 4.2: a holiday need not find its way through attention.
    """

    def __init__(
        self, d_model: int, *, patch_length: int, num_parameters: int, refines_draft: bool, num_ahead: int = 0
    ):
        super().__init__()
        self.patch_length = patch_length
        self.projection = nn.Linear(d_model, patch_length * num_parameters)
        if refines_draft:  # training then starts from the draft itself
            nn.init.zeros_(self.projection.weight)
            nn.init.zeros_(self.projection.bias)
        self.highway = _highway(num_ahead, d_model, num_parameters) if num_ahead else None

    def forward(
        self,
        tokens: Float[Tensor, "batch patch d_model"],
        draft: Float[Tensor, "batch patch width"] | None,
        ahead: Float[Tensor, "batch patch ahead_width"] | None = None,
    ) -> Float[Tensor, "batch step parameter"]:
        """Give the parameters of the steps of all patches in a row."""
        parameters = self.projection(tokens).unflatten(-1, (self.patch_length, -1))
        if ahead is not None and self.highway is not None:
            parameters = parameters + self.highway(ahead.unflatten(-1, (self.patch_length, -1)))
        if draft is not None:
            parameters = torch.cat([parameters[..., :1] + draft[..., None], parameters[..., 1:]], dim=-1)
        return parameters.flatten(1, 2)


def _highway(num_ahead: int, d_model: int, num_parameters: int) -> nn.Sequential:
    last = nn.Linear(d_model, num_parameters)
    nn.init.zeros_(last.weight)  # nothing is known of the covariates before training
    nn.init.zeros_(last.bias)
    return nn.Sequential(nn.Linear(num_ahead, d_model), nn.GELU(), last)
