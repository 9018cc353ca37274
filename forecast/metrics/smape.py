"""Symmetric mean absolute percentage error, as the M4 competition defines it."""

from typing import Literal

import numpy as np

from forecast.config import config
from forecast.metrics.base import Comparison, MetricContract, Terms, one_a_step


@config
class SymmetricMeanAbsolutePercentageError(MetricContract):
    """Mean of 200 |median - actual| / (|median| + |actual|), from 0 to 200; 0 where both are 0.

    Source: Makridakis, Spiliotis & Assimakopoulos, "The M4 Competition" (2020).
    """

    kind: Literal["smape"] = "smape"

    @property
    def name(self) -> str:
        return self.kind

    @property
    def label(self) -> str:
        return "sMAPE %"

    def terms(self, comparison: Comparison) -> Terms:
        error = 200 * np.abs(comparison.median - comparison.actual)
        size = np.abs(comparison.median) + np.abs(comparison.actual)
        return Terms(np.divide(error, size, out=np.zeros_like(error), where=size > 0), one_a_step(comparison))
