"""Covariates as features: numbers measured in their spread on the training part, categories embedded."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor, nn

from forecast.batch import CovariateWindows
from forecast.covariate_scales import CovariateScales
from forecast.frames.covariates import Covariate, CovariateSchema

FARTHEST = 10.0
"""Spreads from the level beyond which a number counts as that far: one wrong cell must not drown all else."""

WIDEST = 16
"""Features of a category with many levels; of few, half of them: more say nothing more."""


@dataclass(frozen=True, eq=False)
class Beside:
    """What a network is told beside the target, as features."""

    context: Float[Tensor, "batch context feature"]
    """Everything known of each step of the past."""

    ahead: Float[Tensor, "batch step ahead_feature"]
    """What is known ahead, of each step of past and horizon; as wide as `CovariateFeatures.num_ahead`."""

    static: Float[Tensor, "batch d_model"] | None
    """What is known of the series, ready to be added to its tokens."""


class CovariateFeatures(nn.Module):
    """Turns windows of covariates into features."""

    def __init__(self, schema: CovariateSchema, *, d_model: int):
        super().__init__()
        self.num_past = len(schema.past)
        self.past = Features(schema.past)
        self.known = Features((*schema.future, *schema.calendar))
        self.series = Features(schema.static)
        self.projection = nn.Linear(self.series.width, d_model) if schema.static else None

    @property
    def num_context(self) -> int:
        """Features of a step of the past."""
        return self.past.width + self.known.width

    @property
    def num_ahead(self) -> int:
        """Features of a step that are known ahead."""
        return self.known.width

    def install(self, scales: CovariateScales) -> None:
        """Take over the level and spread of every number, before training."""
        self.past.install(scales.steps_of(slice(None, self.num_past)))
        self.known.install(scales.steps_of(slice(self.num_past, None)))
        self.series.install(scales.static)

    def forward(self, windows: CovariateWindows, *, context_length: int) -> Beside:
        """Give the features of windows whose past has `context_length` steps."""
        count = self.num_past
        past = self.past(windows.steps[:, :context_length, :count], windows.steps_observed[:, :context_length, :count])
        known = self.known(windows.steps[:, :, count:], windows.steps_observed[:, :, count:])
        static = None
        if self.projection is not None:
            static = self.projection(self.series(windows.static, windows.static_observed))
        return Beside(torch.cat([past, known[:, :context_length]], dim=-1), known, static)


class Features(nn.Module):
    """Features of a few covariates: a number is its distance from the level and whether it is known."""

    level: Tensor
    spread: Tensor

    def __init__(self, covariates: Sequence[Covariate]):
        super().__init__()
        categories = [place for place, covariate in enumerate(covariates) if covariate.kind == "categorical"]
        self.categories = categories
        self.numbers = [place for place in range(len(covariates)) if place not in categories]
        self.embeddings = nn.ModuleList(_embedding(covariates[place].num_codes) for place in categories)
        self.register_buffer("level", torch.zeros(len(covariates), dtype=torch.float64))
        self.register_buffer("spread", torch.ones(len(covariates), dtype=torch.float64))
        self.width = 2 * len(self.numbers) + sum(_width(covariates[place].num_codes) for place in categories)

    def install(self, scales: tuple[Float64[Tensor, " covariate"], Float64[Tensor, " covariate"]]) -> None:
        """Take over levels and spreads."""
        self.level.copy_(scales[0])
        self.spread.copy_(scales[1])

    def forward(
        self, values: Float64[Tensor, "batch *step covariate"], observed: Bool[Tensor, "batch *step covariate"]
    ) -> Float[Tensor, "batch *step feature"]:
        """Give the features; unknown numbers stand at their level and say so, unknown categories have code 0."""
        values = torch.where(observed, values, 0.0)  # not by a product, from which a NaN would come out as NaN
        scaled = ((values - self.level) / self.spread).clamp(-FARTHEST, FARTHEST) * observed
        parts = [scaled[..., self.numbers].float(), observed[..., self.numbers].float()]
        for place, embedding in zip(self.categories, self.embeddings, strict=True):
            parts.append(embedding(values[..., place].long()))
        return torch.cat(parts, dim=-1)


def _width(num_codes: int) -> int:
    return min(WIDEST, (num_codes + 1) // 2)


def _embedding(num_codes: int) -> nn.Embedding:
    """Small at first, so that a level that training never meets says almost nothing; code 0 says nothing, always."""
    embedding = nn.Embedding(num_codes, _width(num_codes), padding_idx=0)
    with torch.no_grad():
        embedding.weight[1:].normal_(std=0.1)
    return embedding
