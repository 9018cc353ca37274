"""The week of the year, as ISO 8601 numbers weeks."""

from typing import Literal

import numpy as np
from jaxtyping import Float64

from forecast.config import config
from forecast.frames.calendar.days import EPOCH_WEEKDAY
from forecast.frames.calendar.months import month_of
from forecast.frames.features.base import LocalTimes, new_year
from forecast.frames.features.cycle import Cycle


@config
class WeekOfYear(Cycle):
    """The week of the ISO year: Monday to Sunday, of the year that its Thursday is in."""

    kind: Literal["week_of_year"] = "week_of_year"
    cycle = "week_of_year"

    def phase(self, local: LocalTimes) -> Float64[np.ndarray, " row"]:
        thursdays = local.days - local.weekday + EPOCH_WEEKDAY
        first = new_year(month_of(thursdays) // 12 + 1970)
        following = new_year(month_of(thursdays) // 12 + 1971)
        # A year has as many weeks as Thursdays, 52 or 53: count those before this one, and all.
        before = (thursdays - first) // 7
        return before / (before + 1 + (following - 1 - thursdays) // 7)
