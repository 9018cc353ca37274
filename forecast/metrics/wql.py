"""Weighted quantile loss: pinball losses of all levels over the size of what came."""

from typing import Literal

import numpy as np

from forecast.config import config
from forecast.metrics.base import Comparison, MetricContract, Terms


@config
class WeightedQuantileLoss(MetricContract):
    """2 sum(pinball) / sum(|actual|) for each quantile level, averaged over the levels.

    A point forecast counts as a distribution without spread: each of its quantiles is the point.
    Source: Ansari et al., "Chronos: Learning the Language of Time Series" (2024), evaluation metrics;
    `MeanWeightedSumQuantileLoss` of GluonTS is the same figure.
    """

    kind: Literal["wql"] = "wql"
    quantile_levels: tuple[float, ...]
    """Levels over which the loss is averaged."""

    @property
    def name(self) -> str:
        return self.kind

    @property
    def label(self) -> str:
        return "WQL"

    def terms(self, comparison: Comparison) -> Terms:
        pinballs = [self._pinball(comparison, level) for level in self.quantile_levels]
        return Terms(2 * np.mean(pinballs, axis=0), np.abs(comparison.actual))

    def _pinball(self, comparison: Comparison, level: float) -> np.ndarray:
        error = comparison.actual - comparison.quantile(level)
        return np.maximum(level * error, (level - 1) * error)
