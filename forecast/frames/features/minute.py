"""The minute of the hour, seconds as its fraction."""

from typing import Literal

import numpy as np
from jaxtyping import Float64

from forecast.config import config
from forecast.frames.calendar.instants import UNITS
from forecast.frames.features.base import LocalTimes
from forecast.frames.features.cycle import Cycle


@config
class Minute(Cycle):
    """The local minute of the hour."""

    kind: Literal["minute"] = "minute"
    cycle = "minute"

    def phase(self, local: LocalTimes) -> Float64[np.ndarray, " row"]:
        return local.times_of_day % UNITS["h"] / UNITS["h"]
