"""The position in the season: which of its steps this is."""

from typing import Annotated, Literal

import numpy as np
import polars as pl
from jaxtyping import Float64
from pydantic import Field

from forecast.config import config
from forecast.errors import ConfigError
from forecast.frames.features.base import Feature, sin_cos, whole_steps
from forecast.frames.frequency import Frequency


@config
class Season(Feature):
    """The position in the season, counted from one origin for all series; integer time has one too."""

    kind: Literal["season"] = "season"

    season_length: Annotated[int, Field(ge=2)] | None = None
    """Steps in the season; None takes the default of the frequency, where it has one."""

    def names(self, frequency: Frequency) -> tuple[str, ...]:
        name = "season" if self.season_length is None else f"season_{self._length(frequency)}"
        self._length(frequency)
        return f"{name}_sin", f"{name}_cos"

    def columns(self, moments: pl.Series, *, frequency: Frequency) -> Float64[np.ndarray, "row feature"]:
        length = self._length(frequency)
        return sin_cos(whole_steps(moments, frequency=frequency) % length / length)

    def _length(self, frequency: Frequency) -> int:
        length = self.season_length or frequency.season_length
        if length == 1:
            raise ConfigError(
                f"the calendar feature 'season' needs a season, and steps of {frequency.text!r} have none by default; "
                f"give its season_length in steps, or leave it out",
                field="calendar.season_length",
            )
        return length
