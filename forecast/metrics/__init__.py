"""Accuracy of forecasts: one file a metric, and the scores that gather them."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated

from forecast.config import Tagged
from forecast.metrics.base import Comparison, MetricContract, Terms
from forecast.metrics.coverage import Coverage
from forecast.metrics.mae import MeanAbsoluteError, StandardisedMeanAbsoluteError
from forecast.metrics.mase import MeanAbsoluteScaledError
from forecast.metrics.mse import MeanSquaredError, StandardisedMeanSquaredError
from forecast.metrics.scales import SeriesScales, seasonal_scales
from forecast.metrics.scores import Scores
from forecast.metrics.smape import SymmetricMeanAbsolutePercentageError
from forecast.metrics.wql import WeightedQuantileLoss

Metric = Annotated[
    MeanSquaredError
    | MeanAbsoluteError
    | StandardisedMeanSquaredError
    | StandardisedMeanAbsoluteError
    | MeanAbsoluteScaledError
    | SymmetricMeanAbsolutePercentageError
    | WeightedQuantileLoss
    | Coverage,
    Tagged,
]

__all__ = [
    "Comparison",
    "Coverage",
    "MeanAbsoluteError",
    "MeanAbsoluteScaledError",
    "MeanSquaredError",
    "Metric",
    "MetricContract",
    "Scores",
    "SeriesScales",
    "StandardisedMeanAbsoluteError",
    "StandardisedMeanSquaredError",
    "SymmetricMeanAbsolutePercentageError",
    "Terms",
    "WeightedQuantileLoss",
    "seasonal_scales",
    "standard_metrics",
]


def standard_metrics(quantile_levels: Sequence[float]) -> tuple[MetricContract, ...]:
    """Give the metrics that every backtest shows; without levels those of point forecasts alone."""
    points = (
        MeanAbsoluteScaledError(),
        MeanSquaredError(),
        MeanAbsoluteError(),
        StandardisedMeanSquaredError(),
        StandardisedMeanAbsoluteError(),
        SymmetricMeanAbsolutePercentageError(),
    )
    if not quantile_levels:
        return points
    intervals = (Coverage(lower=level) for level in _lower_levels(quantile_levels))
    return (*points, WeightedQuantileLoss(quantile_levels=tuple(quantile_levels)), *intervals)


def _lower_levels(quantile_levels: Sequence[float]) -> list[float]:
    """Levels below the median whose mirror image is among the levels too: each pair bounds a central interval."""
    written = {Decimal(str(level)) for level in quantile_levels}
    return [float(level) for level in sorted(written) if level < Decimal("0.5") and 1 - level in written]
