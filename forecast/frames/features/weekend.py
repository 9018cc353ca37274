"""Whether it is the weekend."""

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from jaxtyping import Float64
from pydantic import Field

from forecast.config import config
from forecast.frames.calendar.days import WEEKDAYS
from forecast.frames.features.base import LocalFeature, LocalTimes

Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


@config
class Weekend(LocalFeature):
    """1 on the local days of rest, else 0."""

    kind: Literal["weekend"] = "weekend"

    days: Annotated[tuple[Weekday, ...], Field(min_length=1)] = ("sat", "sun")
    """The days of rest."""

    @property
    def column_names(self) -> tuple[str, ...]:
        return ("weekend",)

    def at(self, local: LocalTimes) -> Float64[np.ndarray, "row feature"]:
        return rests(self.days)[local.weekday][:, None].astype(np.float64)


def rests(days: Sequence[Weekday]) -> np.ndarray:
    """Tell for each day of the week, Monday first, whether it is one of rest."""
    return np.array([day.lower() in days for day in WEEKDAYS])
