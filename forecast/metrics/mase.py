"""Mean absolute scaled error: absolute errors in units of the seasonal naive's error on the training part."""

from typing import Literal

import numpy as np

from forecast.config import config
from forecast.metrics.base import Comparison, MetricContract, Terms


@config
class MeanAbsoluteScaledError(MetricContract):
    """Mean over all observed steps of |median - actual| / seasonal scale of the series.

    Series without a seasonal scale are left out of the mean: `Scores.num_excluded` counts them.
    Source: Hyndman & Koehler, "Another look at measures of forecast accuracy" (2006).
    """

    kind: Literal["mase"] = "mase"

    @property
    def name(self) -> str:
        return self.kind

    @property
    def label(self) -> str:
        return "MASE"

    def terms(self, comparison: Comparison) -> Terms:
        error = np.abs(comparison.median - comparison.actual)
        scale = np.broadcast_to(comparison.seasonal_scale[:, None], error.shape)
        defined = scale > 0
        return Terms(np.divide(error, scale, out=np.zeros_like(error), where=defined), defined.astype(np.float64))
