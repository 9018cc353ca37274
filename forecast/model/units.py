"""The units of a window: the caller's, those of the transform, those of the network, and the way back."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Float32, Float64
from torch import Tensor

from forecast.forecast import Forecast
from forecast.linear import Measure
from forecast.losses import Head, PointHead
from forecast.model.paths import Paths, quantiles_of
from forecast.model.scaling import Scale, Scaling
from forecast.transform import Transformation, Transformed

# Levels whose mean is the mean of a forecast that was transformed: the middles of 99 equal shares. The outermost half
# per cents count as their middles: what lies beyond has no mean, once tails as heavy as Student's go through exp. Of a
# logarithm that is normal with deviation 0.5 the mean comes out 0.2 % low, with deviation 1, 1.4 %.
NUM_SHARES = 99
MIDDLES = tuple((number + 0.5) / NUM_SHARES for number in range(NUM_SHARES))


Levels = tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Block:
    """A stretch of the horizon in the caller's units."""

    mean: Float64[Tensor, "batch horizon"]
    median: Float64[Tensor, "batch horizon"]
    quantiles: Float64[Tensor, "batch horizon quantile"]


def read_paths(paths: Paths, levels: Levels) -> Block:
    """Read sample paths in the caller's units as a forecast."""
    # From the middle one, so that equal paths have exactly their value as mean, and none overflows.
    median = quantiles_of(paths, (0.5,))[..., 0]
    mean = median + (paths / paths.shape[1] - median[:, None] / paths.shape[1]).sum(dim=1)
    return Block(mean=mean, median=median, quantiles=quantiles_of(paths, levels))


def join(blocks: Iterable[Block], levels: Levels) -> Forecast:
    """Lay blocks one after the other."""
    means, quantiles = zip(*((block.mean, block.quantiles) for block in blocks), strict=True)
    return Forecast(
        mean=torch.cat(means, dim=1).cpu().numpy(),
        quantiles=torch.cat(quantiles, dim=1).cpu().numpy(),
        quantile_levels=levels,
    )


@dataclass(frozen=True, eq=False)
class Units:
    """What a window is measured in; values beyond its past are measured as its past is."""

    transformed: Transformed
    scale: Scale
    """Of the transformed past."""
    is_affine: bool
    """True where the mean goes the way of any other value."""
    lowest: float | None
    """What the caller's values cannot fall below, if anything."""

    @property
    def past(self) -> Float32[Tensor, "batch context"]:
        """The past as the network sees it; unobserved steps hold 0."""
        return self.scale.apply(self.transformed.past) * self.transformed.observed

    def future(
        self, values: Float64[Tensor, "batch horizon"], observed: Bool[Tensor, "batch horizon"]
    ) -> Float32[Tensor, "batch horizon"]:
        """Give the steps after the past as the network is shown them."""
        return self._ahead(values.shape[1]).apply(self.transformed.apply(values, observed))

    def restore(self, scaled: Float[Tensor, "batch horizon *quantile"]) -> Float64[Tensor, "batch horizon *quantile"]:
        """Give values of the network in the caller's units; what ascends along the last axis still does."""
        values = self._ahead(scaled.shape[1]).undo(scaled)
        restored = self.transformed.undo(values, moves=self.scale.moves)
        return restored if self.lowest is None else restored.clamp(min=self.lowest)

    def restore_paths(self, scaled: Float[Tensor, "batch path horizon"]) -> Paths:
        """Give sample paths in the caller's units; they come in no order."""
        return self.restore(scaled.transpose(1, 2)[..., None])[..., 0].transpose(1, 2)

    def mean(
        self, head: Head, parameters: Float[Tensor, "batch horizon parameter"]
    ) -> Float64[Tensor, "batch horizon"]:
        """Give the mean of the forecast in the caller's units; of a head of points, the point.

        A transform that is not affine does not take a mean to a mean: there it is that of the forecast's quantiles.
        """
        if self.is_affine or isinstance(head, PointHead):
            return self.restore(head.mean(parameters))
        shares = self.restore(head.quantiles(parameters, MIDDLES))
        # From the middle one, so that equal shares have exactly their value as mean, and none overflows.
        middle = shares[..., NUM_SHARES // 2 : NUM_SHARES // 2 + 1]
        return (middle + (shares / NUM_SHARES - middle / NUM_SHARES).sum(dim=-1, keepdim=True))[..., 0]

    def block(self, head: Head, parameters: Float[Tensor, "batch horizon parameter"], levels: Levels) -> "Block":
        """Read a head's parameters as a forecast."""
        return Block(
            mean=self.mean(head, parameters),
            median=self.restore(head.median(parameters)),
            quantiles=self.restore(head.quantiles(parameters, levels)),
        )

    def loss_unit(self, series: Float64[Tensor, " batch"], *, measure: Measure) -> Float[Tensor, "batch 1"]:
        """Give the window's own scale in the unit of the loss: the spread of its series, or its own."""
        own = self.scale.spread if measure == "series" else series[:, None]
        return (own / series[:, None]).float()

    def _ahead(self, horizon: int) -> Scale:
        return self.scale.summed(self.transformed.num_summed(horizon))


def measure_units(
    past: Float64[Tensor, "batch context"],
    observed: Bool[Tensor, "batch context"],
    *,
    transformation: Transformation,
    scaling: Scaling,
    horizon: int,
    lowest: float | None = None,
) -> Units:
    """Measure a window that is to be forecast for up to `horizon` steps, by its observed past alone.

    Raises:
        DataError: an observed value is one that the transform cannot take.
    """
    transformed = transformation.open(past, observed, horizon=horizon)
    scale = scaling.measure(transformed.past, transformed.observed)
    return Units(transformed, scale, is_affine=transformation.is_affine, lowest=lowest)
