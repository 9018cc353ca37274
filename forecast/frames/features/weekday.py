"""The day of the week."""

from typing import Literal

import numpy as np
from jaxtyping import Float64

from forecast.config import config
from forecast.frames.calendar.days import WEEKDAYS
from forecast.frames.features.base import LocalTimes
from forecast.frames.features.cycle import LabelledCycle


@config
class Weekday(LabelledCycle):
    """The local day of the week."""

    kind: Literal["weekday"] = "weekday"
    cycle = "weekday"
    labels = tuple(day.lower() for day in WEEKDAYS)

    def position(self, local: LocalTimes) -> Float64[np.ndarray, " row"]:
        return local.weekday.astype(np.float64)
