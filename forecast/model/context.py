"""What a block of a forecast goes by: values so far, which block by block take in those that were forecast."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from forecast.batch import CovariateWindows, Rows
from forecast.model.patching import pad_steps


@dataclass(frozen=True)
class Context(Rows):
    """Series before a block that is to be forecast, in the caller's units."""

    past: Float64[Tensor, "batch context"]
    past_observed: Bool[Tensor, "batch context"]
    covariates: CovariateWindows | None
    """From the first step of the context on, to the end of the horizon."""

    def beside(self, *, horizon: int) -> CovariateWindows | None:
        """Give what is known of the context and of `horizon` steps after it; those beyond the last are unknown."""
        if self.covariates is None:
            return None
        last = self.past.shape[1] + horizon
        steps, observed = self.covariates.steps[:, :last], self.covariates.steps_observed[:, :last]
        missing = last - steps.shape[1]
        return replace(
            self.covariates, steps=pad_steps(steps, after=missing), steps_observed=pad_steps(observed, after=missing)
        )

    def followed_by(self, values: Float64[Tensor, "batch block"]) -> Self:
        """Move on by a block of values; the length stays, unless the context is shorter than the block."""
        length = max(self.past.shape[1], values.shape[1])
        dropped = self.past.shape[1] + values.shape[1] - length
        observed = torch.ones_like(values, dtype=torch.bool)
        return replace(
            self,
            past=torch.cat([self.past, values], dim=1)[:, dropped:],
            past_observed=torch.cat([self.past_observed, observed], dim=1)[:, dropped:],
            covariates=self._covariates_from(dropped),
        )

    def _covariates_from(self, first: int) -> CovariateWindows | None:
        if self.covariates is None:
            return None
        steps, observed = self.covariates.steps[:, first:], self.covariates.steps_observed[:, first:]
        return replace(self.covariates, steps=steps, steps_observed=observed)
