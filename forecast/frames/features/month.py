"""The month of the year."""

from typing import Literal

import numpy as np
from jaxtyping import Float64

from forecast.config import config
from forecast.frames.calendar.months import MONTHS
from forecast.frames.features.base import LocalTimes
from forecast.frames.features.cycle import LabelledCycle


@config
class Month(LabelledCycle):
    """The local month of the year."""

    kind: Literal["month"] = "month"
    cycle = "month"
    labels = tuple(month.lower() for month in MONTHS)

    def position(self, local: LocalTimes) -> Float64[np.ndarray, " row"]:
        return (local.months % 12).astype(np.float64)
