"""Baselines: forecasters without gradient steps, one file each, beside which every model is read."""

from typing import Annotated

from forecast.baselines.base import BaselineContract, FittedBaseline
from forecast.baselines.last_value import LastValue
from forecast.baselines.linear import Linear
from forecast.baselines.seasonal_naive import SeasonalNaive
from forecast.config import Tagged

Baseline = Annotated[LastValue | SeasonalNaive | Linear, Tagged]

__all__ = ["Baseline", "BaselineContract", "FittedBaseline", "LastValue", "Linear", "SeasonalNaive"]
