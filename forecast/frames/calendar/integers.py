"""Integer time: steps are whole numbers a fixed stride apart, and no date stands behind them."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from forecast.frames.calendar.base import Calendar, Origins


@dataclass(frozen=True)
class Integers(Calendar):
    """Every `stride` of the caller's integers is one step."""

    stride: int
    clock = "count"

    @property
    def text(self) -> str:
        return str(self.stride)

    @property
    def season_length(self) -> int:
        return 1

    def steps(self, places: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return (places - origins.places) // self.stride

    def places(self, steps: Int64[np.ndarray, " n"], *, origins: Origins) -> Int64[np.ndarray, " n"]:
        return origins.places + steps * self.stride
