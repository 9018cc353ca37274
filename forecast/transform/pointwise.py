"""Transforms of each value by itself: a function that ascends, and its inverse."""

from abc import abstractmethod
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float64
from torch import Tensor

from forecast.frames.panel import Panel
from forecast.observed import newest_observed
from forecast.transform.base import Transformation, Transformed

ONE = 1.0  # every transform takes it


class Pointwise(Transformation):
    """A function of a value; quantiles pass through it exactly because it ascends."""

    @abstractmethod
    def change(self, values: Float64[Tensor, "..."]) -> Float64[Tensor, "..."]:
        """Give the function, of values in the domain."""

    @abstractmethod
    def restore(self, changed: Float64[Tensor, "..."]) -> Float64[Tensor, "..."]:
        """Give the inverse, of any number: what no value changes to becomes the end of the domain that is nearest."""

    @property
    def is_affine(self) -> bool:
        return False

    def open(
        self, past: Float64[Tensor, "batch context"], observed: Bool[Tensor, "batch context"], *, horizon: int
    ) -> "PointwiseWindow":
        newest = newest_observed(torch.where(observed, past, 0.0), observed)
        if not self.domain.holds(0.0):  # a window with nothing observed must be forecast by something it can take
            newest = torch.where(observed.any(dim=1, keepdim=True), newest, ONE)
        return PointwiseWindow(
            past=self.change_observed(past, observed), observed=observed, newest=newest, function=self
        )

    def transform_panel(self, panel: Panel) -> Panel:
        values, observed = torch.tensor(panel.values)[None], torch.tensor(panel.observed)[None]
        return replace(panel, values=self.change_observed(values, observed)[0].numpy())

    def change_observed(
        self, values: Float64[Tensor, "batch step"], observed: Bool[Tensor, "batch step"]
    ) -> Float64[Tensor, "batch step"]:
        """Change observed values; the others become 0."""
        self.refuse_outside(values, observed)
        return torch.where(observed, self.change(values), 0.0)


@dataclass(frozen=True, eq=False)
class PointwiseWindow(Transformed):
    """A window whose every step was changed by itself."""

    newest: Float64[Tensor, "batch 1"]
    """The newest observed value, as given; 0 where there is none, or 1 where 0 cannot be taken."""

    function: Pointwise

    def apply(
        self, future: Float64[Tensor, "batch horizon"], observed: Bool[Tensor, "batch horizon"]
    ) -> Float64[Tensor, "batch horizon"]:
        return self.function.change_observed(future, observed)

    def undo(
        self, values: Float64[Tensor, "batch horizon *quantile"], *, moves: Bool[Tensor, "batch 1"]
    ) -> Float64[Tensor, "batch horizon *quantile"]:
        largest = torch.finfo(values.dtype).max
        restored = self.function.restore(values).clamp(-largest, largest)
        if restored.ndim > 2 and restored.shape[-1] and not self.function.is_affine:
            restored = restored.cummax(dim=-1).values  # the inverses ascend but for the last bit of their rounding
        shape = (-1, *[1] * (values.ndim - 1))
        return torch.where(moves.view(shape), restored, self.newest.view(shape))

    def num_summed(self, horizon: int) -> Float64[Tensor, "#batch #{horizon}"]:
        return torch.ones_like(self.newest[:1])
