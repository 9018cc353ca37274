"""The hour of the day, minutes and seconds as its fraction."""

from typing import Literal

import numpy as np
from jaxtyping import Float64

from forecast.config import config
from forecast.frames.features.base import LocalTimes
from forecast.frames.features.cycle import LabelledCycle


@config
class Hour(LabelledCycle):
    """The local hour of the day."""

    kind: Literal["hour"] = "hour"
    cycle = "hour"
    labels = tuple(map(str, range(24)))

    def position(self, local: LocalTimes) -> Float64[np.ndarray, " row"]:
        return local.part_of_day * 24
