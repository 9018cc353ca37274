"""What goes round on a clock or calendar: as a place on the unit circle, or as one column a value."""

from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np
from jaxtyping import Float64

from forecast.config import config
from forecast.frames.features.base import LocalFeature, LocalTimes, sin_cos

Encoding = Literal["sin_cos", "one_hot"]
"""Two columns that place a value on a circle, whose ends meet; or one column a value, 1 where it holds and else 0."""


class Cycle(LocalFeature):
    """Two columns, the sine and the cosine of the phase."""

    cycle: ClassVar[str]
    """What goes round; the columns are named after it."""

    @property
    def column_names(self) -> tuple[str, ...]:
        return f"{self.cycle}_sin", f"{self.cycle}_cos"

    @abstractmethod
    def phase(self, local: LocalTimes) -> Float64[np.ndarray, " row"]:
        """Give the part of the cycle that is over, from 0 up to 1."""

    def at(self, local: LocalTimes) -> Float64[np.ndarray, "row feature"]:
        return sin_cos(self.phase(local))


@config
class LabelledCycle(Cycle):
    """A cycle of few values that have names."""

    encoding: Encoding = "sin_cos"
    """Whether the value is a place on the circle, or each has a column."""

    labels: ClassVar[tuple[str, ...]]

    @property
    def column_names(self) -> tuple[str, ...]:
        if self.encoding == "one_hot":
            return tuple(f"{self.cycle}_{label}" for label in self.labels)
        return super().column_names

    @abstractmethod
    def position(self, local: LocalTimes) -> Float64[np.ndarray, " row"]:
        """Give the place among the labels, counted from 0; a fraction where the value is partly over."""

    def phase(self, local: LocalTimes) -> Float64[np.ndarray, " row"]:
        return self.position(local) / len(self.labels)

    def at(self, local: LocalTimes) -> Float64[np.ndarray, "row feature"]:
        if self.encoding == "sin_cos":
            return super().at(local)
        columns = np.zeros((len(local.days), len(self.labels)))
        columns[np.arange(len(columns)), self.position(local).astype(np.int64)] = 1.0
        return columns
