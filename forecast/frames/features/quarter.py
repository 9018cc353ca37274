"""The quarter of the year."""

from typing import Literal

import numpy as np
from jaxtyping import Float64

from forecast.config import config
from forecast.frames.features.base import LocalTimes
from forecast.frames.features.cycle import LabelledCycle


@config
class Quarter(LabelledCycle):
    """The local quarter of the year, the first from January on."""

    kind: Literal["quarter"] = "quarter"
    cycle = "quarter"
    labels = ("q1", "q2", "q3", "q4")

    def position(self, local: LocalTimes) -> Float64[np.ndarray, " row"]:
        return (local.months % 12 // 3).astype(np.float64)
