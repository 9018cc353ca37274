"""What a metric is: a ratio of two sums over the observed steps of every window."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64

from forecast.errors import QuantilesUnavailable
from forecast.forecast import Forecast


@dataclass(frozen=True, eq=False)
class Comparison:
    """Forecasts of some windows beside what came, in the caller's units, with the yardsticks of their series."""

    forecast: Forecast

    actual: Float64[np.ndarray, "batch horizon"]
    """What came; 0 where it was not observed."""

    observed: Bool[np.ndarray, "batch horizon"]

    unit: Float64[np.ndarray, " batch"]
    """Spread of the series on its training part: standardised errors are measured in it."""

    seasonal_scale: Float64[np.ndarray, " batch"]
    """Mean absolute seasonal difference of the series on its training part; 0 where it is undefined."""

    @property
    def median(self) -> Float64[np.ndarray, "batch horizon"]:
        """The forecast median, which minimises absolute errors; the mean where the forecast has no median."""
        return self.quantile(0.5) if 0.5 in self.forecast.quantile_levels else self.forecast.mean

    def quantile(self, level: float) -> Float64[np.ndarray, "batch horizon"]:
        """Give the forecast at one quantile level; each quantile of a point forecast is the point.

        Raises:
            QuantilesUnavailable: the forecast has quantiles, but not at this level.
        """
        levels = self.forecast.quantile_levels
        if not levels:
            return self.forecast.mean
        if level not in levels:
            raise QuantilesUnavailable(
                f"the metric needs the quantile at level {level} and the forecast has levels {levels}; "
                f"forecast at the levels that are to be scored"
            )
        return self.forecast.quantiles[:, :, levels.index(level)]


@dataclass(frozen=True, eq=False)
class Terms:
    """What each step adds to the two sums of a metric; steps that were not observed are struck out by the caller."""

    numerator: Float64[np.ndarray, "batch horizon"]
    weight: Float64[np.ndarray, "batch horizon"]


class MetricContract(ABC):
    """A metric is sum(numerator) / sum(weight), so any grouping of steps (series, horizon step, all) has its value."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Key of the metric in results, JSON and the tracking store."""

    @property
    @abstractmethod
    def label(self) -> str:
        """Name of the metric in tables and pictures."""

    @abstractmethod
    def terms(self, comparison: Comparison) -> Terms:
        """Give numerator and weight of every step of the windows."""

    def shortfall(self, value: float) -> float:
        """Tell how far `value` is from perfect: of two forecasters the better has the smaller shortfall."""
        return value


def one_a_step(comparison: Comparison) -> Float64[np.ndarray, "batch horizon"]:
    """Give the weights with which every step counts the same."""
    return np.ones_like(comparison.actual)
