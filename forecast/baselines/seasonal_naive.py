"""Seasonal naive: the newest observed season, repeated."""

import math
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Bool, Float64, Int64, Shaped
from pydantic import Field

from forecast.baselines.base import BaselineContract, FittedBaseline
from forecast.baselines.last_value import newest_observed
from forecast.baselines.spread import lag_spreads
from forecast.config import config
from forecast.errors import ConfigError
from forecast.frames.panel import Panel


@config
class SeasonalNaive(BaselineContract):
    """Copies, to the bit, the newest value observed at the same phase of the season.

    Where the context holds none at that phase it takes the newest observed value, and 0 where it holds none at all.
    """

    kind: Literal["seasonal_naive"] = "seasonal_naive"
    season_length: Annotated[int, Field(ge=1)] | None = None
    """Steps of a season; None takes the one that is usual at the panel's frequency."""

    @property
    def name(self) -> str:
        return self.kind if self.season_length is None else f"{self.kind}_{self.season_length}"

    def context_for(self, panel: Panel, *, context_length: int) -> int:
        return max(context_length, self._season(panel))

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
        season = self._season(panel)
        if context_length < season:
            raise ConfigError(
                f"the seasonal naive needs a whole season of {season} steps in its context and is given "
                f"{context_length}; cut contexts of at least {season} steps, or set a shorter season_length",
                field="context_length",
            )
        lags = range(season, horizon + season, season)
        spreads = lag_spreads(panel, ends=ends, lags=lags, quantile_levels=quantile_levels)
        return FittedBaseline(
            point=lambda past, past_observed, horizon: repeat_season(past, past_observed, horizon, season),
            context_length=context_length,
            quantile_levels=quantile_levels,
            spreads=spreads.repeat(season, axis=1)[:, :horizon],
        )

    def _season(self, panel: Panel) -> int:
        return panel.axis.frequency.season_length if self.season_length is None else self.season_length


def repeat_season(
    past: Float64[np.ndarray, "batch context"],
    past_observed: Bool[np.ndarray, "batch context"],
    horizon: int,
    season_length: int,
) -> Float64[np.ndarray, "batch {horizon}"]:
    """Give, for each step, the newest value observed a whole number of seasons before it."""
    steps, seen = _by_phase(past, season_length), _by_phase(past_observed, season_length)
    newest = newest_observed(past, past_observed)[:, None]
    season = np.where(seen.any(axis=-1), newest_observed(steps, seen), newest)
    return np.tile(season, math.ceil(horizon / season_length))[:, :horizon]


def _by_phase(
    steps: Shaped[np.ndarray, "batch context"], season_length: int
) -> Shaped[np.ndarray, "batch {season_length} cycle"]:
    """Fold the past by season: phase 0 is that of the first step forecast, cycles stand in order of time."""
    missing = -steps.shape[1] % season_length
    whole = np.pad(steps, ((0, 0), (missing, 0)))
    return whole.reshape(len(steps), -1, season_length).swapaxes(1, 2)
