"""The quantile head: levels that cannot cross, trained on the pinball loss."""

import math
from typing import Literal, Self

import torch
from jaxtyping import Float, Float64, Int64
from pydantic import model_validator
from torch import Tensor
from torch.distributions import Normal
from torch.nn import functional

from forecast.config import config
from forecast.losses.base import Head, in_order

NARROW = -2.0  # softplus(-2) is 0.13: untrained levels start a tenth of the window's scale apart, not 0.7 of it


@config
class Quantile(Head):
    """A middle level and non-negative steps outwards from it, so that levels are in order by construction."""

    kind: Literal["quantile"] = "quantile"

    quantile_levels: tuple[float, ...] = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
    """Levels trained, ascending and around 0.5; any other level can be asked for afterwards."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not in_order(self.quantile_levels) or 0.5 not in self.quantile_levels:
            raise ValueError(f"quantile levels must ascend inside (0, 1) and hold 0.5, got {self.quantile_levels}")
        return self

    @property
    def num_parameters(self) -> int:
        """One a level: the median, the steps above it, the steps below it."""
        return len(self.quantile_levels)

    @property
    def default_quantile_levels(self) -> tuple[float, ...]:
        """The levels trained."""
        return self.quantile_levels

    def loss(
        self,
        parameters: Float[Tensor, "batch horizon parameter"],
        actual: Float[Tensor, "batch horizon"],
        unit: Float[Tensor, "batch 1"],
    ) -> Float[Tensor, "batch horizon"]:
        """Give the pinball loss averaged over the levels, doubled: that of the median alone is the absolute error."""
        return 2 * unit * pinball(self._trained(parameters), actual, self.quantile_levels).mean(dim=-1)

    def mean(self, parameters: Float[Tensor, "batch horizon parameter"]) -> Float[Tensor, "batch horizon"]:
        """Give the mean of the distribution that `quantiles` describes, in closed form.

        On each piece the quantile function is a + b z with z standard normal, whose integral over levels is
        a (P(z1) - P(z0)) + b (p(z0) - p(z1)), with P and p the normal distribution and density.
        """
        values, scores = self._trained(parameters), _normal_scores(self.quantile_levels, parameters)
        if len(self.quantile_levels) == 1:
            return values[..., 0]
        slopes = values.diff(dim=-1) / scores.diff()
        intercepts = values[..., :-1] - slopes * scores[:-1]
        bounds = functional.pad(scores[1:-1], (1, 1))
        bounds[0], bounds[-1] = -math.inf, math.inf
        standard = Normal(scores.new_zeros(()), scores.new_ones(()), validate_args=False)
        share, density = standard.cdf(bounds), standard.log_prob(bounds).exp()
        return (intercepts * share.diff() - slopes * density.diff()).sum(dim=-1)

    def quantiles(
        self, parameters: Float[Tensor, "batch horizon parameter"], levels: tuple[float, ...]
    ) -> Float[Tensor, "batch horizon quantile"]:
        """Give any levels: straight lines between the trained ones on the normal scale, and on beyond the outer two.

        Trained levels are given exactly. Beyond the outermost levels the tails are those of a normal distribution.
        """
        trained = self._trained(parameters)
        if levels == self.quantile_levels:
            return trained
        if len(self.quantile_levels) == 1:
            return trained.expand(*trained.shape[:-1], len(levels))
        right, share = self._place(_normal_scores(levels, parameters))
        # cummax only mends the last bit of rounding: the lines themselves never descend
        return torch.lerp(trained[..., right - 1], trained[..., right], share).cummax(dim=-1).values

    def sample(
        self, parameters: Float[Tensor, "*#rows horizon parameter"], level: Float64[Tensor, "*#rows horizon"]
    ) -> Float[Tensor, "*rows horizon"]:
        """Give the point of the same lines at a level a step."""
        trained = self._trained(parameters)
        shape = torch.broadcast_shapes(trained.shape[:-1], level.shape)
        if len(self.quantile_levels) == 1:
            return trained[..., 0].expand(shape)
        right, share = self._place(torch.special.ndtri(level).to(parameters))
        trained, right = trained.expand(*shape, -1), right.expand(shape)[..., None]
        return torch.lerp(trained.gather(-1, right - 1)[..., 0], trained.gather(-1, right)[..., 0], share)

    def _place(self, wanted: Float[Tensor, "*level"]) -> tuple[Int64[Tensor, "*level"], Float[Tensor, "*level"]]:
        """Give the trained level that ends the line of each normal score, and how far along the line it lies."""
        known = _normal_scores(self.quantile_levels, wanted)
        right = torch.searchsorted(known, wanted).clamp(1, len(known) - 1)
        return right, (wanted - known[right - 1]) / (known[right] - known[right - 1])

    def _trained(self, parameters: Tensor) -> Tensor:
        middle = self.quantile_levels.index(0.5)
        median, steps = parameters[..., :1], functional.softplus(parameters[..., 1:] + NARROW)
        num_above = len(self.quantile_levels) - middle - 1
        above = median + steps[..., :num_above].cumsum(dim=-1)
        below = median - steps[..., num_above:].cumsum(dim=-1)
        return torch.cat([below.flip(-1), median, above], dim=-1)


def pinball(
    forecast: Float[Tensor, "batch horizon quantile"],
    actual: Float[Tensor, "batch horizon"],
    levels: tuple[float, ...],
) -> Float[Tensor, "batch horizon quantile"]:
    """Give the pinball loss of every level (Koenker & Bassett, "Regression Quantiles", 1978)."""
    above = actual[..., None] - forecast
    level = forecast.new_tensor(levels)
    return torch.maximum(level * above, (level - 1) * above)


def _normal_scores(levels: tuple[float, ...], like: Tensor) -> Float[Tensor, " quantile"]:
    # In float64 first: in float32 a level of 1 - 1e-9 is 1, and its quantile infinite.
    return torch.special.ndtri(torch.tensor(levels, dtype=torch.float64)).to(like)
