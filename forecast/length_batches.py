"""Batches of series of about one length, so that short ones are not padded to the longest."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

SHORTEST = 64  # below it a batch costs the same however short it is

Steps = Int64[np.ndarray, " series"]


@dataclass(frozen=True, eq=False)
class LengthBatch:
    """Series to be forecast together."""

    numbers: Int64[np.ndarray, " batch"]
    context_length: int
    """Steps at which their contexts are cut."""


def batches_by_length(
    lengths: Steps, *, context_length: int, horizon: int, block: int, steps_a_batch: int, num_channels: int = 1
) -> Iterator[LengthBatch]:
    """Give every series once, in batches of at most `steps_a_batch` steps of context and horizon, shortest first.

    A context is cut at the power of two that holds the series, or at `context_length`: by the length of that series
    alone, so that it is the same whatever is forecast beside it. A horizon is forecast in blocks of `block` steps, each
    of which takes the ones before it into its context: room is kept for them. Channels of one entity, `num_channels`
    series in a row and of one length, stay together.
    """
    cuts = _cuts(lengths + (horizon - 1) // block * block, context_length=context_length)
    for cut in np.unique(cuts).tolist():
        entities = np.flatnonzero(cuts[::num_channels] == cut)
        size = max(1, steps_a_batch // ((cut + horizon) * num_channels))
        for first in range(0, len(entities), size):
            chosen = entities[first : first + size, None] * num_channels + np.arange(num_channels)
            yield LengthBatch(chosen.ravel(), context_length=cut)


def _cuts(lengths: Steps, *, context_length: int) -> Steps:
    powers = 2 ** np.arange(64 - 1)
    bounds = np.append(powers[(powers >= SHORTEST) & (powers < context_length)], context_length)
    return bounds[np.minimum(np.searchsorted(bounds, lengths), len(bounds) - 1)]
