"""Fourier terms of a period: smooth waves, of which a model makes a season of any shape."""

from collections.abc import Callable
from typing import Annotated, Literal, Self

import numpy as np
import polars as pl
from jaxtyping import Float64
from pydantic import Field, model_validator

from forecast.config import config
from forecast.errors import ConfigError
from forecast.frames.calendar.instants import UNITS
from forecast.frames.features.base import Feature, LocalTimes, sin_cos, whole_steps
from forecast.frames.frequency import Frequency

NamedPeriod = Literal["minute", "hour", "day", "week", "month", "quarter", "year"]

Phase = Callable[[LocalTimes], Float64[np.ndarray, " row"]]

PHASES: dict[NamedPeriod, Phase] = {
    "minute": lambda local: local.times_of_day % UNITS["min"] / UNITS["min"],
    "hour": lambda local: local.times_of_day % UNITS["h"] / UNITS["h"],
    "day": lambda local: local.part_of_day,
    "week": lambda local: (local.weekday + local.part_of_day) / 7,
    "month": lambda local: (local.day_of_month + local.part_of_day) / local.days_in_month,
    "quarter": lambda local: (local.day_of_quarter + local.part_of_day) / local.days_in_quarter,
    "year": lambda local: (local.day_of_year + local.part_of_day) / local.days_in_year,
}
"""The part of each period that is over, from 0 up to 1, at local times."""


@config
class Fourier(Feature):
    """Sine and cosine of the first `order` harmonics of a period."""

    kind: Literal["fourier"] = "fourier"

    period: NamedPeriod | Annotated[float, Field(ge=2)]
    """A span of the local calendar, or a number of steps (not always whole), counted from one origin for all series."""

    order: Annotated[int, Field(ge=1)] = 1
    """Harmonics: the more, the sharper the corners of the season."""

    @model_validator(mode="after")
    def _harmonics_that_steps_can_show(self) -> Self:
        if not isinstance(self.period, str) and 2 * self.order > self.period:
            raise ValueError(
                f"order {self.order} is too high for a period of {self.period:g} steps: {int(self.period // 2)} at most"
            )
        return self

    def names(self, frequency: Frequency) -> tuple[str, ...]:
        if isinstance(self.period, str) and frequency.calendar.clock == "count":
            raise ConfigError(
                f"the calendar feature 'fourier' with the period {self.period!r} means nothing for integer time, "
                f"which has no dates; give the period in steps",
                field="calendar.period",
            )
        period = self.period if isinstance(self.period, str) else f"{self.period:.12g}"
        orders = range(1, self.order + 1)
        return tuple(f"fourier_{period}_{wave}_{order}" for order in orders for wave in ("sin", "cos"))

    def columns(self, moments: pl.Series, *, frequency: Frequency) -> Float64[np.ndarray, "row feature"]:
        self.names(frequency)
        phases = self._phases(moments, frequency=frequency)
        return np.hstack([sin_cos(phases * order % 1) for order in range(1, self.order + 1)])

    def _phases(self, moments: pl.Series, *, frequency: Frequency) -> Float64[np.ndarray, " row"]:
        if isinstance(self.period, str):
            return PHASES[self.period](LocalTimes.of(moments))
        return np.mod(whole_steps(moments, frequency=frequency), self.period) / self.period
