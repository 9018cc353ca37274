"""Level and spread of every covariate on the training part: what its numbers are measured in."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from forecast.frames.covariates import Covariates

Scale = tuple[Float64[Tensor, " covariate"], Float64[Tensor, " covariate"]]
"""Levels and spreads; 0 and 1 where nothing is known or nothing moves."""

StaticScale = tuple[Float64[Tensor, " static"], Float64[Tensor, " static"]]
"""The same of covariates of which there is another number."""

ROUNDING = 1e-9
"""A spread below this share of the largest value is rounding of a constant."""


@dataclass(frozen=True, eq=False)
class CovariateScales:
    """Scales of the covariates that have a value a step, and of the static ones; categories have them and use none."""

    steps: Scale
    static: StaticScale

    def steps_of(self, chosen: slice) -> Scale:
        """Give the scales of some covariates."""
        level, spread = self.steps
        return level[chosen], spread[chosen]


def measure_covariates(covariates: Covariates, *, ends: Int64[np.ndarray, " series"]) -> CovariateScales:
    """Measure the observed steps before `ends`, counted from the start of each series; nothing later is read."""
    used = _used_rows(covariates, ends)
    steps = [
        _scale(values, used if known is None else used & known)
        for values, known in zip(covariates.values, covariates.observed, strict=True)
    ]
    chosen = ends > 0
    static = [
        _scale(covariates.static[:, place], covariates.static_observed[:, place] & chosen)
        for place in range(covariates.static.shape[1])
    ]
    return CovariateScales(_stacked(steps), _stacked(static))


def _used_rows(covariates: Covariates, ends: Int64[np.ndarray, " series"]) -> Bool[np.ndarray, " row"]:
    num_rows = int((covariates.starts + covariates.lengths).max(initial=0))
    used = np.zeros(num_rows, dtype=bool)
    for start, end in zip(covariates.starts.tolist(), ends.tolist(), strict=True):
        used[start : start + end] = True
    return used


def _scale(values: Float64[np.ndarray, " row"], used: Bool[np.ndarray, " row"]) -> tuple[float, float]:
    chosen = values[: len(used)][used]
    if not len(chosen):
        return 0.0, 1.0
    largest = float(np.abs(chosen).max()) or 1.0
    shares = chosen / largest  # no sum or square of them overflows
    level, spread = float(np.mean(shares)) * largest, float(np.std(shares)) * largest
    return level, spread if spread > ROUNDING * largest else 1.0


def _stacked(scales: list[tuple[float, float]]) -> Scale:
    both = torch.tensor(scales, dtype=torch.float64).reshape(-1, 2)
    return both[:, 0], both[:, 1]
