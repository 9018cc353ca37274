"""What a baseline is: it is fitted on the training part of a panel and then forecasts windows as a model does."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from forecast.batch import Batch
from forecast.errors import ConfigError
from forecast.forecast import Forecast
from forecast.frames.panel import Panel

Point = Callable[[np.ndarray, np.ndarray, int], np.ndarray]
"""past [batch context], past_observed [batch context], horizon -> point forecasts [batch horizon], caller's units."""


@dataclass(frozen=True, eq=False)
class FittedBaseline:
    """A point forecast with the errors that it made on the training part around it."""

    point: Point

    context_length: int
    """Steps of past that it is to be given."""

    quantile_levels: tuple[float, ...]

    spreads: Float64[np.ndarray, "series horizon quantile"]
    """Distance of each quantile from the point, in the caller's units, for the series that it was fitted on."""

    def forecast(self, batch: Batch, *, series: Int64[np.ndarray, " batch"], horizon: int) -> Forecast:
        """Forecast windows of the fitted panel; `series` numbers the series of each.

        Raises:
            ConfigError: the horizon is longer than the one fitted.
        """
        longest = self.spreads.shape[1]
        if horizon > longest:
            raise ConfigError(
                f"the baseline was fitted for {longest} steps and is asked for {horizon}; "
                f"fit it with horizon={horizon}",
                field="horizon",
            )
        point = self.point(batch.past.numpy(force=True), batch.past_observed.numpy(force=True), horizon)
        quantiles = point[:, :, None] + self.spreads[series, :horizon]
        return Forecast(mean=point, quantiles=quantiles, quantile_levels=self.quantile_levels)


class BaselineContract(ABC):
    """A forecaster without gradient steps, against which every model is read."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the baseline's row in tables."""

    @abstractmethod
    def context_for(self, panel: Panel, *, context_length: int) -> int:
        """Give the context that the baseline reads on this panel, beside a model that reads `context_length` steps."""

    @abstractmethod
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
        """Fit on the steps before `ends`, counted from the start of each series; nothing later is read.

        `units` is the spread of each series on its training part.

        Raises:
            ConfigError: `context_length` is shorter than the baseline needs.
        """
