"""Which windows there are: every one by index arithmetic, in memory that grows with the number of series alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int64

from forecast.errors import SeriesTooShort
from forecast.frames.panel import Panel
from pipelines.split import Parts

Steps = Int64[np.ndarray, " series"]
Numbers = Int64[np.ndarray, " window"]

NAMED_IDS = 5  # of the series in a printed report; the report itself holds all


@dataclass(frozen=True, eq=False)
class WindowIndex:
    """All windows, numbered through: those of the first series from its oldest origin to its newest, then the next's.

    An origin is the first step forecast, counted from the start of its series.
    """

    first: Steps
    """Oldest origin of each series."""

    last: Steps
    """No origin lies after it; a series whose `last` is before its `first` has no window."""

    ends: Steps
    """No target at or after this step of the series may be used: what lies there belongs to a later part."""

    stride: int = 1
    """Steps from one origin to the next."""

    num_channels: int = 1
    """Series of one entity, which have the same windows: those of one origin are numbered in a row."""

    def __len__(self) -> int:
        """Give the number of windows of all series."""
        return int(self._bounds[-1]) * self.num_channels

    @cached_property
    def counts(self) -> Steps:
        """Number of windows of each series."""
        return np.maximum((self.last - self.first) // self.stride + 1, 0)

    @cached_property
    def _bounds(self) -> Int64[np.ndarray, " bound"]:
        return np.concatenate([[0], np.cumsum(self.counts[:: self.num_channels])])

    def locate(self, numbers: Numbers) -> tuple[Numbers, Numbers]:
        """Give the series and the origin of each window asked for by its number, from 0 to below the length."""
        assert numbers.size == 0 or (numbers.min() >= 0 and numbers.max() < len(self)), "a window number out of range"
        windows, channels = np.divmod(numbers, self.num_channels)
        entities = np.searchsorted(self._bounds, windows, side="right") - 1
        series = entities * self.num_channels + channels
        return series, self.first[series] + (windows - self._bounds[entities]) * self.stride

    def batches(self, batch_size: int) -> Iterator[Numbers]:
        """Give the numbers of all windows in order, `batch_size` at a time, the last batch with those that are left.

        A batch holds whole entities, and so may hold a few windows more.
        """
        size = -(-batch_size // self.num_channels) * self.num_channels
        for start in range(0, len(self), size):
            yield np.arange(start, min(start + size, len(self)))


def training_windows(panel: Panel, parts: Parts, *, context_length: int, horizon: int, stride: int = 1) -> WindowIndex:
    """Give the windows that train: their targets lie inside the training part.

    A series whose training part holds a whole window gives only whole ones: its origins run from `context_length` to
    `train_end - horizon`. One that is shorter gives what fits: its origins begin at 1, so that the context is padded on
    the left and holds at least one step, and where not even one step and a whole horizon fit, there is one window, at
    origin 1, with the targets that are there. A training part of fewer than 2 steps gives none.

    Raises:
        SeriesTooShort: there is not one window.
    """
    ends = parts.train_end
    last = np.where(ends >= 2, np.maximum(ends - horizon, 1), 0)
    first = np.where(last >= context_length, context_length, 1)
    index = WindowIndex(first=first, last=last, ends=ends, stride=stride, num_channels=parts.num_channels)
    if len(index) == 0:
        raise SeriesTooShort(
            f"nothing to train on: a window needs at least 2 steps, 1 of context and 1 of target, but the longest "
            f"training part of {len(panel)} series has {ends.max(initial=0)}; send more history, or give more of it to "
            f"training"
        )
    return index


def validation_windows(parts: Parts, *, horizon: int, stride: int = 1) -> WindowIndex:
    """Give the windows whose targets lie wholly inside the validation part; a context may reach back before it.

    A series whose part is shorter than `horizon` has none.
    """
    return _held_out(parts, parts.train_end, parts.validation_end, horizon=horizon, stride=stride)


def test_windows(parts: Parts, *, horizon: int, stride: int = 1) -> WindowIndex:  # noqa: PT028 - no test function
    """Give the windows whose targets lie wholly inside the test part; a context may reach back before it.

    A series whose part is shorter than `horizon` has none.
    """
    return _held_out(parts, parts.validation_end, parts.test_end, horizon=horizon, stride=stride)


def _held_out(parts: Parts, start: Steps, end: Steps, *, horizon: int, stride: int) -> WindowIndex:
    return WindowIndex(first=start, last=end - horizon, ends=end, stride=stride, num_channels=parts.num_channels)


@dataclass(frozen=True)
class WindowReport:
    """What became of each series when the windows were laid out, by id."""

    whole: tuple[str | int, ...]
    """Every window has a full context."""

    padded: tuple[str | int, ...]
    """There are windows whose context reaches before the series' start and is padded on the left."""

    left_out: tuple[str | int, ...]
    """There is no window."""

    def __str__(self) -> str:
        """Give counts, and the first ids of the series that do not fit whole."""
        padded = f"{len(self.padded)} padded{_named(self.padded)}"
        return f"{len(self.whole)} series whole, {padded}, {len(self.left_out)} left out{_named(self.left_out)}"


def window_report(panel: Panel, index: WindowIndex, *, context_length: int) -> WindowReport:
    """Report which series give whole windows, which padded ones and which none."""
    has_any, reaches_back = index.counts > 0, index.first < context_length
    return WindowReport(
        whole=_ids(panel, has_any & ~reaches_back),
        padded=_ids(panel, has_any & reaches_back),
        left_out=_ids(panel, ~has_any),
    )


def _ids(panel: Panel, chosen: Bool[np.ndarray, " series"]) -> tuple[str | int, ...]:
    return tuple(panel.ids[number] for number in np.flatnonzero(chosen))


def _named(ids: tuple[str | int, ...]) -> str:
    more = ", ..." if len(ids) > NAMED_IDS else ""
    return f" ({', '.join(map(repr, ids[:NAMED_IDS]))}{more})" if ids else ""
