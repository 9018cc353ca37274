"""The day of the year, as a part of that year."""

from typing import Literal

import numpy as np
from jaxtyping import Float64

from forecast.config import config
from forecast.frames.features.base import LocalTimes
from forecast.frames.features.cycle import Cycle


@config
class DayOfYear(Cycle):
    """The local day of the year: the circle closes at the year's own end, leap day or not."""

    kind: Literal["day_of_year"] = "day_of_year"
    cycle = "day_of_year"

    def phase(self, local: LocalTimes) -> Float64[np.ndarray, " row"]:
        return local.day_of_year / local.days_in_year
