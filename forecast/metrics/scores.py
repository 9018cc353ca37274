"""Scores: the two sums of every metric, gathered batch by batch, by series and by horizon step."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float64, Int64

from forecast.metrics.base import Comparison, MetricContract


class Scores:
    """Accuracy of one forecaster over windows that come in batches.

    Every step is added on its own, in the order of the windows, in float64: the figures are the same to the last bit
    however the windows are cut into batches. Memory grows with series + horizon, not with windows. A figure whose
    weights are all 0 (nothing observed, or no scale) is undefined: NaN.
    """

    def __init__(self, metrics: Sequence[MetricContract], *, num_series: int, horizon: int):
        self.metrics = {metric.name: metric for metric in metrics}
        self.num_windows = 0
        self._by_series = np.zeros((len(self.metrics), 2, num_series))
        self._by_step = np.zeros((len(self.metrics), 2, horizon))
        self._num_steps = np.zeros(num_series, dtype=np.int64)

    def add(self, comparison: Comparison, *, series: Int64[np.ndarray, " batch"]) -> None:
        """Score some windows; `series` numbers the series of each."""
        observed = np.flatnonzero(comparison.observed)
        window, step = np.divmod(observed, comparison.observed.shape[1])
        row = series[window]
        for by_series, by_step, metric in zip(self._by_series, self._by_step, self.metrics.values(), strict=True):
            terms = metric.terms(comparison)
            for place, term in enumerate((terms.numerator.ravel()[observed], terms.weight.ravel()[observed])):
                np.add.at(by_series[place], row, term)  # one by one: bincount would first sum each batch on its own
                np.add.at(by_step[place], step, term)
        np.add.at(self._num_steps, row, 1)
        self.num_windows += len(series)

    def overall(self) -> dict[str, float]:
        """Give each metric over all observed steps of all windows, each step counting the same."""
        numerators, weights = self._by_series.sum(axis=2).T
        return {name: float(value) for name, value in zip(self.metrics, _ratio(numerators, weights), strict=True)}

    def by_series(self) -> dict[str, Float64[np.ndarray, " series"]]:
        """Give each metric of every series, over all its windows and steps."""
        return dict(zip(self.metrics, _ratio(self._by_series[:, 0], self._by_series[:, 1]), strict=True))

    def by_step(self) -> dict[str, Float64[np.ndarray, " horizon"]]:
        """Give each metric at every horizon step, over all windows."""
        return dict(zip(self.metrics, _ratio(self._by_step[:, 0], self._by_step[:, 1]), strict=True))

    def num_excluded(self, metric: str) -> int:
        """Count the series that were scored but have no figure of their own in `metric`, for want of a scale."""
        weights = self._by_series[list(self.metrics).index(metric), 1]
        return int(((weights == 0) & (self._num_steps > 0)).sum())

    def better_than(self, other: "Scores", metric: str) -> bool:
        """Tell whether this forecaster is strictly better in `metric`; an undefined figure is never better."""
        judge = self.metrics[metric]
        mine, theirs = (judge.shortfall(scores.overall()[metric]) for scores in (self, other))
        return mine < theirs


def _ratio(numerators: Float64[np.ndarray, "*shape"], weights: Float64[np.ndarray, "*shape"]) -> np.ndarray:
    return np.divide(numerators, weights, out=np.full_like(numerators, np.nan), where=weights > 0)
