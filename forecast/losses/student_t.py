"""The Student-t head: a location, a scale and degrees of freedom, trained on the likelihood."""

from typing import Literal, Self

import torch
from jaxtyping import Float, Float64
from pydantic import model_validator
from torch import Tensor
from torch.distributions import StudentT as Distribution
from torch.nn import functional

from forecast.config import config
from forecast.losses.base import Head, in_order

SMALLEST_SCALE = 1e-4  # of the window's scale: keeps the likelihood of a perfectly predicted step finite


@config
class StudentT(Head):
    """Heavy tails that shrink to a normal distribution as the degrees of freedom grow (Salinas et al. 2020)."""

    kind: Literal["student_t"] = "student_t"

    quantile_levels: tuple[float, ...] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    """Levels forecast when none are asked for, ascending."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if not in_order(self.quantile_levels):
            raise ValueError(f"quantile levels must ascend inside (0, 1), got {self.quantile_levels}")
        return self

    @property
    def num_parameters(self) -> int:
        """Location, scale and degrees of freedom."""
        return 3

    @property
    def default_quantile_levels(self) -> tuple[float, ...]:
        """The levels of the configuration."""
        return self.quantile_levels

    def loss(
        self,
        parameters: Float[Tensor, "batch horizon parameter"],
        actual: Float[Tensor, "batch horizon"],
        unit: Float[Tensor, "batch 1"],
    ) -> Float[Tensor, "batch horizon"]:
        """Give the negative log-likelihood of the actual in units of the loss."""
        location, scale, freedom = self._distribution(parameters)
        return -Distribution(freedom, location, scale, validate_args=False).log_prob(actual) + unit.log()

    def mean(self, parameters: Float[Tensor, "batch horizon parameter"]) -> Float[Tensor, "batch horizon"]:
        """Give the location: the mean of a symmetric distribution with more than one degree of freedom."""
        return parameters[..., 0]

    def quantiles(
        self, parameters: Float[Tensor, "batch horizon parameter"], levels: tuple[float, ...]
    ) -> Float[Tensor, "batch horizon quantile"]:
        """Invert the distribution function at the levels."""
        from scipy import stats  # heavy: 3 s that only this head needs

        location, scale, freedom = (tensor[..., None] for tensor in self._distribution(parameters))
        standard = stats.t.ppf(levels, freedom.double().cpu().numpy())
        return location + scale * torch.from_numpy(standard).to(location)

    def sample(
        self, parameters: Float[Tensor, "*#rows horizon parameter"], level: Float64[Tensor, "*#rows horizon"]
    ) -> Float[Tensor, "*rows horizon"]:
        """Invert the distribution function at a level a step."""
        from scipy.special import stdtrit  # what `ppf` above calls, without checks that cost more than a step

        location, scale, freedom = self._distribution(parameters)
        standard = stdtrit(freedom.double().cpu().numpy(), level.cpu().numpy())
        return location + scale * torch.from_numpy(standard).to(location)

    def _distribution(self, parameters: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        location, scale, freedom = parameters.unbind(dim=-1)
        return location, functional.softplus(scale) + SMALLEST_SCALE, 2 + functional.softplus(freedom)
