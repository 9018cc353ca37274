"""A forecast as arrays: what models and baselines give, before it is dressed with ids and timestamps."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64


@dataclass(frozen=True, eq=False)
class Forecast:
    """Forecasts of several windows or series, in the caller's units, rows in the order asked for."""

    mean: Float64[np.ndarray, "series horizon"]
    """The mean of the forecast distribution; for a model trained on one point loss, its point forecast."""

    quantiles: Float64[np.ndarray, "series horizon quantile"]
    """One value a level, never crossing; of width 0 where the model forecasts points only."""

    quantile_levels: tuple[float, ...]
    """Levels of the last axis of `quantiles`, ascending."""
