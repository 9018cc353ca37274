"""Linear: one ridge regression from the context to the horizon, solved in closed form and shared by all series."""

from typing import Annotated, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64
from pydantic import Field

from forecast.baselines.base import BaselineContract, FittedBaseline
from forecast.baselines.spread import spread
from forecast.batch import cut_windows
from forecast.config import config
from forecast.frames.panel import Panel
from forecast.linear import LinearMap, fit_linear

# Training windows a series whose errors become its quantiles: windows lie close together, so more of them say the
# same again, and 512 place a 99 % quantile on five errors.
MAX_WINDOWS = 512


@config
class Linear(BaselineContract):
    """The closed-form linear map: the floor that a trained model has to beat to have earned its weights.

    Its quantiles come from windows that it was fitted on, so they are somewhat too narrow.
    """

    kind: Literal["linear"] = "linear"
    context_length: Annotated[int, Field(ge=1)] | None = None
    """Steps read; None reads as many as the model beside it."""
    strength: Annotated[float, Field(gt=0)] = 0.1
    """Ridge penalty, times the number of training windows."""

    @property
    def name(self) -> str:
        return self.kind if self.context_length is None else f"{self.kind}_{self.context_length}"

    def context_for(self, panel: Panel, *, context_length: int) -> int:
        return context_length if self.context_length is None else self.context_length

    def fit(
        self,
        panel: Panel,
        *,
        ends: Int64[np.ndarray, " series"],
        units: Float64[np.ndarray, " series"],
        context_length: int,
        horizon: int,
        quantile_levels: tuple[float, ...],
    ) -> FittedBaseline:
        linear = fit_linear(
            panel, ends=ends, units=units, context_length=context_length, horizon=horizon, strength=self.strength
        )
        spreads = [
            _spread_by_step(linear, panel, number=number, end=int(end), horizon=horizon, levels=quantile_levels)
            for number, end in enumerate(ends)
        ]
        return FittedBaseline(
            point=lambda past, observed, horizon: _points(linear, past, observed, horizon),
            context_length=context_length,
            quantile_levels=quantile_levels,
            spreads=np.stack(spreads),
        )


def _points(
    linear: LinearMap,
    past: Float64[np.ndarray, "batch context"],
    past_observed: Bool[np.ndarray, "batch context"],
    horizon: int,
) -> Float64[np.ndarray, "batch {horizon}"]:
    return linear.forecast(torch.from_numpy(past), torch.from_numpy(past_observed), horizon=horizon).numpy()


def _spread_by_step(
    linear: LinearMap, panel: Panel, *, number: int, end: int, horizon: int, levels: tuple[float, ...]
) -> Float64[np.ndarray, "{horizon} quantile"]:
    """Give the spread of one series at each horizon step, from windows laid evenly over its training part."""
    context_length = len(linear.weights)
    last = max(end - horizon, 1)
    first = min(context_length, last)
    origins = np.unique(np.linspace(first, last, MAX_WINDOWS).astype(np.int64))
    batch = cut_windows(
        panel,
        series=np.full(len(origins), number, dtype=np.int64),
        origins=origins,
        context_length=context_length,
        horizon=horizon,
    )
    errors = batch.future.numpy() - linear.forecast(batch.past, batch.past_observed, horizon=horizon).numpy()
    trained = origins[:, None] + np.arange(horizon) < end
    usable = batch.future_observed.numpy() & trained
    return np.stack([spread(errors[usable[:, step], step], levels) for step in range(horizon)])
