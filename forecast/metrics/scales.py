"""The yardsticks of a series, measured on its training part alone."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from forecast.frames.panel import Panel

# A series that repeats its season exactly differs from its own copy by the rounding of its source (a sine at large
# arguments, decimals in binary). Below this share of its size a scale is such noise, and MASE would divide by it.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class SeriesScales:
    """What errors of each series are measured in."""

    unit: Float64[np.ndarray, " series"]
    """Population standard deviation on the training part; 1 where it is 0 or unknown."""

    seasonal: Float64[np.ndarray, " series"]
    """Mean absolute seasonal difference on the training part; 0 where it is undefined."""

    @classmethod
    def measure(
        cls,
        panel: Panel,
        *,
        ends: Int64[np.ndarray, " series"],
        units: Float64[np.ndarray, " series"],
        season_length: int,
    ) -> "SeriesScales":
        """Measure a panel on the steps before `ends`, from the start of each series; `units` become the unit."""
        return cls(unit=units, seasonal=seasonal_scales(panel, ends=ends, season_length=season_length))


def seasonal_scales(
    panel: Panel, *, ends: Int64[np.ndarray, " series"], season_length: int
) -> Float64[np.ndarray, " series"]:
    """Give the mean of |y(t) - y(t - season_length)| over the observed pairs before `ends`, in the caller's units.

    `ends` counts steps from the start of each series. A series without a pair, and one that repeats its season exactly,
    has no scale: 0. Source: Hyndman & Koehler (2006), the denominator of MASE.
    """
    scales = [
        _seasonal_scale(
            panel.values[start : start + end], panel.observed[start : start + end], season_length=season_length
        )
        for start, end in zip(panel.offsets[:-1], ends, strict=True)
    ]
    return np.array(scales, dtype=np.float64)


def _seasonal_scale(
    values: Float64[np.ndarray, " step"], observed: Bool[np.ndarray, " step"], *, season_length: int
) -> float:
    paired = observed[season_length:] & observed[:-season_length]
    if not paired.any():
        return 0.0
    scale = float(np.abs(values[season_length:] - values[:-season_length])[paired].mean())
    return scale if scale > ROUNDING * np.abs(values).max() else 0.0
