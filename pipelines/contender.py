"""A trained model as something that can be scored beside the baselines."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from forecast.batch import Batch
from forecast.forecast import Forecast
from forecast.model.transformer import ForecastModel


@dataclass(frozen=True, eq=False)
class ModelContender:
    """Forecasts windows with a model in evaluation mode, at its head's own quantile levels."""

    model: ForecastModel

    steps: int | None = None
    """Steps of past that it is shown; None is as many as it was trained on."""

    @property
    def context_length(self) -> int:
        """Steps of past that it is shown."""
        return self.steps or self.model.config.context_length

    @property
    def quantile_levels(self) -> tuple[float, ...]:
        """Levels of the model's head; empty for a point model."""
        return self.model.config.head.default_quantile_levels

    def forecast(self, batch: Batch, *, series: Int64[np.ndarray, " batch"], horizon: int) -> Forecast:
        """Forecast the windows of a batch; a model needs no telling which series they are of."""
        return self.model.forecast(batch.past, batch.past_observed, horizon=horizon, covariates=batch.covariates)
