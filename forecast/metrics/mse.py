"""Mean squared error, of the forecast mean: in squared units, and standardised."""

from typing import Literal

from forecast.config import config
from forecast.metrics.base import Comparison, MetricContract, Terms, one_a_step


@config
class MeanSquaredError(MetricContract):
    """Mean squared error in the caller's units, squared."""

    kind: Literal["mse"] = "mse"

    @property
    def name(self) -> str:
        return self.kind

    @property
    def label(self) -> str:
        return "MSE"

    def terms(self, comparison: Comparison) -> Terms:
        return Terms((comparison.forecast.mean - comparison.actual) ** 2, one_a_step(comparison))


@config
class StandardisedMeanSquaredError(MetricContract):
    """Mean squared error in squared units of each series: the figure of the long-horizon benchmarks.

    Source: Zhou et al., "Informer" (2021), whose loader standardises by the training part and never inverts.
    """

    kind: Literal["standardised_mse"] = "standardised_mse"

    @property
    def name(self) -> str:
        return self.kind

    @property
    def label(self) -> str:
        return "MSE/σ²"

    def terms(self, comparison: Comparison) -> Terms:
        error = (comparison.forecast.mean - comparison.actual) / comparison.unit[:, None]
        return Terms(error**2, one_a_step(comparison))
