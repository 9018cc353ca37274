"""Coverage: how often what came lies in a central interval."""

from decimal import Decimal
from typing import Literal

import numpy as np

from forecast.config import config
from forecast.metrics.base import Comparison, MetricContract, Terms, one_a_step


@config
class Coverage(MetricContract):
    """Share of observed steps inside the central interval between two symmetric quantile levels, bounds included."""

    kind: Literal["coverage"] = "coverage"
    lower: float
    """Quantile level of the lower bound; the upper bound stands at 1 - lower."""

    @property
    def nominal(self) -> Decimal:
        """Share of steps that the interval promises to hold."""
        return 1 - 2 * Decimal(str(self.lower))

    @property
    def upper(self) -> float:
        """Quantile level of the upper bound, exactly as a person writes it (0.9, never 0.8999...)."""
        return float(1 - Decimal(str(self.lower)))

    @property
    def name(self) -> str:
        return f"coverage_{self._percent}"

    @property
    def label(self) -> str:
        return f"in {self._percent} %"

    def terms(self, comparison: Comparison) -> Terms:
        low, high = comparison.quantile(self.lower), comparison.quantile(self.upper)
        inside = (low <= comparison.actual) & (comparison.actual <= high)
        return Terms(inside.astype(np.float64), one_a_step(comparison))

    def shortfall(self, value: float) -> float:
        """An interval is as wrong when it holds too much as when it holds too little."""
        return abs(value - float(self.nominal))

    @property
    def _percent(self) -> str:
        return format((self.nominal * 100).normalize(), "f")
