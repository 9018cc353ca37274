"""Sample paths: levels drawn for every step of every path, and blocks of steps that go on from what was drawn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64, Shaped
from torch import Tensor

from forecast.model.context import Context

STEPS_AT_ONCE = 131_072  # of contexts and paths: bounds memory as the batches of a forecast without paths do

Paths = Float64[Tensor, "batch path step"]
Draw = Callable[[Context, Paths], Paths]
"""Gives the values of a block, in the caller's units, at the levels drawn; the paths of a row share its context."""


def draw_levels(row_ids: Sequence[int], *, seed: int, num_paths: int, horizon: int) -> Paths:
    """Draw a level in (0, 1) for every step of every path; a row's levels hang on the seed and its id alone.

    At each step the paths of a row lie one in each of `num_paths` equal shares of (0, 1), in random order (McKay et al.
    1979): each path by itself is as random as ever, and their quantiles need fewer paths. A shorter horizon gives the
    beginning of a longer one.
    """
    return torch.from_numpy(np.stack([_draw(seed, row, (horizon, num_paths)) for row in row_ids]))


def _draw(seed: int, row_id: int, shape: tuple[int, int]) -> Float64[np.ndarray, "path horizon"]:
    horizon, num_paths = shape
    generator = np.random.Generator(np.random.Philox(key=np.array([seed, row_id], dtype=np.uint64)))
    order, offset = generator.random((horizon, 2, num_paths)).transpose(1, 2, 0)
    levels = (order.argsort(axis=0) + offset) / num_paths
    return np.clip(levels, 2.0**-60, 1 - 2.0**-53)  # the ends have no quantile


def sample_paths(draw: Draw, context: Context, levels: Paths, *, block: int, num_channels: int = 1) -> Paths:
    """Draw paths of any horizon, block by block, a part of the series at a time where they are many.

    All paths of a series share the context of the first block. After it each goes on from its own: what it drew is its
    past. `num_channels` rows in a row are one entity, whose channels may see each other: path by path they go together.
    """
    steps = num_channels * (context.past.shape[1] + levels[0].numel())
    size = max(1, STEPS_AT_ONCE // steps) * num_channels
    return torch.cat(
        [
            _sample(draw, context.rows(slice(first, first + size)), levels[first : first + size], block, num_channels)
            for first in range(0, len(levels), size)
        ]
    )


def _sample(draw: Draw, context: Context, levels: Paths, block: int, num_channels: int) -> Paths:
    each = levels.split(block, dim=-1)
    values = [draw(context, each[0])]
    fan = Fan(num_channels=num_channels, num_paths=levels.shape[1])
    own = context.rows(fan.sources(len(levels), device=levels.device)) if len(each) > 1 else context
    for number in range(1, len(each)):
        own = own.followed_by(fan.rows(values[-1]))
        values.append(fan.paths(_draw_apart(draw, own, fan.rows(each[number]), num_channels)))
    return torch.cat(values, dim=-1)


def _draw_apart(draw: Draw, own: Context, levels: Float64[Tensor, "row step"], num_channels: int) -> Tensor:
    """Draw one path a row, some rows at a time where they are many."""
    size = max(1, STEPS_AT_ONCE // (own.past.shape[1] * num_channels)) * num_channels
    parts = [slice(first, first + size) for first in range(0, len(levels), size)]
    return torch.cat([draw(own.rows(part), levels[part][:, None])[:, 0] for part in parts])


@dataclass(frozen=True)
class Fan:
    """Paths of rows as rows of their own: those of an entity one after the other, each with all its channels."""

    num_channels: int
    num_paths: int

    def sources(self, num_rows: int, *, device: torch.device) -> Shaped[Tensor, " row"]:
        """Give the row that each new row comes from."""
        numbers = torch.arange(num_rows, device=device)
        return self.rows(numbers[:, None, None].expand(-1, self.num_paths, 1))[:, 0]

    def rows(self, paths: Shaped[Tensor, "batch path step"]) -> Shaped[Tensor, "row step"]:
        """Give a row for each path."""
        return paths.unflatten(0, (-1, self.num_channels)).transpose(1, 2).flatten(0, 2)

    def paths(self, rows: Shaped[Tensor, "row step"]) -> Shaped[Tensor, "batch path step"]:
        """Give the paths of each row."""
        return rows.unflatten(0, (-1, self.num_paths, self.num_channels)).transpose(1, 2).flatten(0, 1)


def quantiles_of(paths: Paths, levels: tuple[float, ...]) -> Float64[Tensor, "batch step quantile"]:
    """Give quantiles of the paths at each step: of n paths in order the k-th stands for the level (k - 1/2) / n.

    Between them lie straight lines (Hyndman & Fan 1996, definition 5). No quantile lies beyond the outermost paths: far
    levels want many of them.
    """
    ordered = paths.transpose(1, 2).sort(dim=-1).values
    places = (torch.tensor(levels, dtype=torch.float64) * paths.shape[1] - 0.5).clamp(0, paths.shape[1] - 1)
    left = places.floor().to(torch.int64).to(paths.device)
    right = (left + 1).clamp(max=paths.shape[1] - 1)
    low, high = ordered[..., left], ordered[..., right]
    # cummax mends the last bit of rounding alone; what is equal on both sides stays as it is to the bit
    return (low + (high - low) * (places.to(paths.device) - left)).cummax(dim=-1).values
