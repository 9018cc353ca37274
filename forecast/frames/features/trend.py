"""The years that have gone by: what a trend is drawn on."""

from typing import Literal

import numpy as np
from jaxtyping import Float64

from forecast.config import config
from forecast.frames.features.base import LocalFeature, LocalTimes

ORIGIN = 2000  # near most data, so that the numbers are small


@config
class Trend(LocalFeature):
    """Years since the start of 2000, the part of the present one included; before it, negative."""

    kind: Literal["trend"] = "trend"

    @property
    def column_names(self) -> tuple[str, ...]:
        return ("trend",)

    def at(self, local: LocalTimes) -> Float64[np.ndarray, "row feature"]:
        part = (local.day_of_year + local.part_of_day) / local.days_in_year
        return (local.years - ORIGIN + part)[:, None]
