"""Length buckets: windows cut at about the context that they have, in batches of as many as a budget of steps holds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from jaxtyping import Int64

from forecast.errors import ConfigError
from pipelines.windows import WindowIndex

Numbers = Int64[np.ndarray, " number"]
ENDLESS = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Bucket:
    """Windows whose contexts are cut at one length, in batches of one size."""

    index: WindowIndex
    context_length: int

    size: int
    """Origins in a batch, each with the windows of all channels; the last batch has those that are left."""

    def __len__(self) -> int:
        """Give the number of batches."""
        return (self.num_origins + self.size - 1) // self.size

    @property
    def num_origins(self) -> int:
        """Number of origins of all entities."""
        return len(self.index) // self.index.num_channels

    def origins(self, batch: int) -> Numbers:
        """Number the origins of one batch, as they come in order."""
        return np.arange(batch * self.size, min((batch + 1) * self.size, self.num_origins))

    def windows(self, origins: Numbers) -> Int64[np.ndarray, " window"]:
        """Number the windows of origins: those of all channels, in a row."""
        num_channels = self.index.num_channels
        return (origins[:, None] * num_channels + np.arange(num_channels)).ravel()


def make_buckets(
    index: WindowIndex, *, bounds: Sequence[int], context_length: int, horizon: int, batch_size: int
) -> tuple[Bucket, ...]:
    """Sort windows by the steps that they have before their origin: the shortest bound that holds them cuts them.

    `context_length` is the last bound. A batch of it holds `batch_size` windows; of the others as many more as make no
    more steps, so that short and long series mix without much padding. Buckets without a window are left out.

    Raises:
        ConfigError: the bounds do not rise, or reach `context_length`.
    """
    lengths = (*bounds, context_length)
    if any(one >= other for one, other in pairwise((0, *lengths))):
        raise ConfigError(
            f"buckets must rise and end below context_length {context_length}, got {list(bounds)}; "
            f"for example {[context_length // 4, context_length // 2]}",
            field="trainer.buckets",
        )
    budget = batch_size * (context_length + horizon)
    lows, highs = (0, *(bound + 1 for bound in bounds)), (*bounds, ENDLESS)
    buckets = (
        Bucket(
            _between(index, low, high),
            context_length=length,
            size=-(-(budget // (length + horizon)) // index.num_channels),
        )
        for low, high, length in zip(lows, highs, lengths, strict=True)
    )
    return tuple(bucket for bucket in buckets if len(bucket))


def padding_share(buckets: Sequence[Bucket], *, horizon: int) -> float:
    """Give the share of the steps in all batches that lie before the start of a series."""
    steps = sum(len(bucket.index) * (bucket.context_length + horizon) for bucket in buckets)
    return sum(_num_padded(bucket) for bucket in buckets) / steps


def _num_padded(bucket: Bucket) -> int:
    """Count the steps before the start of a series: each origin lacks one less than the one before it."""
    index = _between(bucket.index, 0, bucket.context_length)
    counts = index.counts
    reached = counts * index.first + index.stride * (counts * (counts - 1) // 2)
    return int((counts * bucket.context_length - reached).sum())


def _between(index: WindowIndex, low: int, high: int) -> WindowIndex:
    """Give the windows whose origins lie from `low` to `high`."""
    skipped = np.maximum(-(-(low - index.first) // index.stride), 0)
    return replace(index, first=index.first + skipped * index.stride, last=np.minimum(index.last, high))
