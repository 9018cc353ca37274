"""Mean absolute error, of the forecast median: in the caller's units, and standardised."""

from typing import Literal

import numpy as np

from forecast.config import config
from forecast.metrics.base import Comparison, MetricContract, Terms, one_a_step


@config
class MeanAbsoluteError(MetricContract):
    """Mean absolute error in the caller's units."""

    kind: Literal["mae"] = "mae"

    @property
    def name(self) -> str:
        return self.kind

    @property
    def label(self) -> str:
        return "MAE"

    def terms(self, comparison: Comparison) -> Terms:
        return Terms(np.abs(comparison.median - comparison.actual), one_a_step(comparison))


@config
class StandardisedMeanAbsoluteError(MetricContract):
    """Mean absolute error in units of each series: the figure of the long-horizon benchmarks.

    Source: Zhou et al., "Informer" (2021), whose loader standardises by the training part and never inverts.
    """

    kind: Literal["standardised_mae"] = "standardised_mae"

    @property
    def name(self) -> str:
        return self.kind

    @property
    def label(self) -> str:
        return "MAE/σ"  # noqa: RUF001 - sigma is meant

    def terms(self, comparison: Comparison) -> Terms:
        error = np.abs(comparison.median - comparison.actual)
        return Terms(error / comparison.unit[:, None], one_a_step(comparison))
