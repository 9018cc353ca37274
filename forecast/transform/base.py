"""What a transform is: it changes the values that a model sees, and changes its forecasts back, both in float64.

A variant's configuration builds a `Transformation`, which the model holds; what that has fitted is among the model's
weights. Opened on a window it gives a `Transformed`. What stands in unobserved steps is never read.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64
from torch import Tensor, nn

from forecast.errors import DataError
from forecast.frames.panel import Panel
from forecast.transform.domain import Domain


@dataclass(frozen=True, eq=False)
class Transformed(ABC):
    """A window as the transform gives it, and the way there and back for the steps after it."""

    past: Float64[Tensor, "batch context"]
    """Transformed; unobserved steps hold 0."""

    observed: Bool[Tensor, "batch context"]
    """Where `past` says something: steps whose transform needs an earlier one that is missing do not."""

    @abstractmethod
    def apply(
        self, future: Float64[Tensor, "batch horizon"], observed: Bool[Tensor, "batch horizon"]
    ) -> Float64[Tensor, "batch horizon"]:
        """Transform the steps after the past; unobserved ones become 0.

        Raises:
            DataError: an observed value is one that the transform cannot take.
        """

    @abstractmethod
    def undo(
        self, values: Float64[Tensor, "batch horizon *quantile"], *, moves: Bool[Tensor, "batch 1"]
    ) -> Float64[Tensor, "batch horizon *quantile"]:
        """Give forecasts in the caller's units: finite, and in the order in which they came along the last axis.

        `moves` is False for windows whose transformed past is constant, and which are forecast to stay as they are.
        """

    @abstractmethod
    def num_summed(self, horizon: int) -> Float64[Tensor, "#batch #{horizon}"]:
        """Give how many steps of the kind that the past holds add up to each step of the horizon: 1 but for changes."""


class Transformation(nn.Module, ABC):
    """A transform with all that it has fitted."""

    def __init__(self, kind: str):
        super().__init__()
        self.kind = kind

    @property
    def domain(self) -> Domain:
        """What it can take."""
        return Domain()

    @property
    @abstractmethod
    def is_affine(self) -> bool:
        """True where the mean of a forecast may be changed back like any of its quantiles."""

    @abstractmethod
    def open(
        self, past: Float64[Tensor, "batch context"], observed: Bool[Tensor, "batch context"], *, horizon: int
    ) -> Transformed:
        """Transform a window that is to be forecast for up to `horizon` steps.

        Raises:
            DataError: an observed value is one that the transform cannot take.
            TrainingError: there is something to be fitted first.
        """

    @abstractmethod
    def transform_panel(self, panel: Panel) -> Panel:
        """Give the panel with transformed values: what series are measured in, and what a draft is solved on."""

    def fit(self, panel: Panel, *, ends: Int64[np.ndarray, " series"]) -> None:
        """Fit what is to be fitted on the steps before `ends`, counted from the start of each series."""

    def refuse_outside(self, values: Float64[Tensor, "batch step"], observed: Bool[Tensor, "batch step"]) -> None:
        """Refuse observed values outside the domain.

        Raises:
            DataError: there is one.
        """
        domain = self.domain
        if domain.is_everything:
            return
        outside = observed & ~domain.holds(values)
        if bool(outside.any()):
            raise DataError(
                f"{int(outside.sum()):,} values of a window, the first {values[outside][0].item()!r}, are not for the "
                f"transform {self.kind!r}, which takes {domain}; {FIX}"
            )


FIX = "correct them, or choose the transform 'arcsinh', which takes any value"
