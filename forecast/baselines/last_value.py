"""Last value: the newest observed value, repeated."""

from typing import Literal

import numpy as np
from jaxtyping import Bool, Float64, Int64

from forecast.baselines.base import BaselineContract, FittedBaseline
from forecast.baselines.spread import lag_spreads
from forecast.config import config
from forecast.frames.panel import Panel


@config
class LastValue(BaselineContract):
    """Repeats the newest observed value of the context, to the bit; 0 where the context holds none."""

    kind: Literal["last_value"] = "last_value"

    @property
    def name(self) -> str:
        return self.kind

    def context_for(self, panel: Panel, *, context_length: int) -> int:
        return context_length

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
        lags = range(1, horizon + 1)
        return FittedBaseline(
            point=repeat_last,
            context_length=context_length,
            quantile_levels=quantile_levels,
            spreads=lag_spreads(panel, ends=ends, lags=lags, quantile_levels=quantile_levels),
        )


def repeat_last(
    past: Float64[np.ndarray, "batch context"], past_observed: Bool[np.ndarray, "batch context"], horizon: int
) -> Float64[np.ndarray, "batch {horizon}"]:
    """Give the newest observed value of each row at every step; 0 where the row holds none."""
    return newest_observed(past, past_observed)[:, None].repeat(horizon, axis=1)


def newest_observed(
    past: Float64[np.ndarray, "*row step"], past_observed: Bool[np.ndarray, "*row step"]
) -> Float64[np.ndarray, "*row"]:
    """Give the last observed value along the last axis; 0 where there is none."""
    age = past_observed[..., ::-1].argmax(axis=-1, keepdims=True)  # of equal maxima it gives the first
    newest = np.take_along_axis(past, past.shape[-1] - 1 - age, axis=-1)[..., 0]
    return np.where(past_observed.any(axis=-1), newest, 0.0)
