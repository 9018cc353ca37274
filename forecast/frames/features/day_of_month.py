"""The day of the month, as a part of that month."""

from typing import Literal

import numpy as np
from jaxtyping import Float64

from forecast.config import config
from forecast.frames.features.base import LocalTimes
from forecast.frames.features.cycle import Cycle


@config
class DayOfMonth(Cycle):
    """The local day of the month: the circle closes at the month's own end, be it after 28 days or 31."""

    kind: Literal["day_of_month"] = "day_of_month"
    cycle = "day_of_month"

    def phase(self, local: LocalTimes) -> Float64[np.ndarray, " row"]:
        return local.day_of_month / local.days_in_month
