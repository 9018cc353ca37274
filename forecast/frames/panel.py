"""The panel: all series of a frame as contiguous arrays on one time axis a series, with no missing row and no NaN."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float64, Int64

from forecast.frames.column_type import ColumnType
from forecast.frames.covariates import Covariates
from forecast.frames.time import TimeAxis


@dataclass(frozen=True)
class Channels:
    """Several targets of one entity as series of their own: those of the first entity, then of the second."""

    names: tuple[str, ...]
    """The columns of the targets, two or more."""

    entities: tuple[str | int, ...]
    """The caller's ids, one for each `len(names)` series."""

    def __len__(self) -> int:
        """Give the number of channels."""
        return len(self.names)


@dataclass(frozen=True, eq=False)
class Panel:
    """Series laid end to end in one array a column; series `k` fills `offsets[k]:offsets[k + 1]`.

    The arrays are owned by the panel and read-only. Unobserved steps hold 0 in `values` and False in `observed`.
    """

    ids: tuple[str | int, ...]
    """The caller's series ids, sorted; as given, never coerced.

    With several targets an id is `entity/target`, and `channels` says which is which.
    """

    values: Float64[np.ndarray, " step"]
    """The target, in the caller's units."""

    observed: Bool[np.ndarray, " step"]
    """True where `values` is a real observation."""

    offsets: Int64[np.ndarray, " bound"]
    """Bounds of the series in the arrays: one more than there are series."""

    axis: TimeAxis
    """What the steps mean: frequency, zone, dtype of the caller's stamps, and the first stamp of each series."""

    id_type: ColumnType | None = None
    """The type of the caller's id column, given back with every answer; None takes it from `ids`."""

    covariates: Covariates | None = None
    """What is known beside the target; None where nothing is."""

    weights: Float64[np.ndarray, " step"] | None = None
    """How much each step counts in the loss, 0 or more; None where all count alike."""

    channels: Channels | None = None
    """Which series belong together; None where each entity has one target."""

    def __post_init__(self) -> None:
        for array in (self.values, self.observed, self.offsets, self.weights):
            if array is not None:
                array.flags.writeable = False

    def __len__(self) -> int:
        """Give the number of series."""
        return len(self.ids)

    @property
    def num_channels(self) -> int:
        """Series of one entity."""
        return 1 if self.channels is None else len(self.channels)

    @cached_property
    def lengths(self) -> Int64[np.ndarray, " series"]:
        """Number of steps of each series, unobserved ones included."""
        return np.diff(self.offsets)

    def series(self, number: int) -> slice:
        """Give the place of one series in the arrays."""
        return slice(int(self.offsets[number]), int(self.offsets[number + 1]))

    def select(self, numbers: Sequence[int]) -> "Panel":
        """Give a panel of the chosen series, in the order asked for."""
        channels = self.channels
        if channels is not None:
            channels = Channels(channels.names, _entities(channels, numbers))
        places = [np.arange(self.offsets[number], self.offsets[number + 1]) for number in numbers]
        rows = np.concatenate(places) if places else np.empty(0, dtype=np.int64)
        bounds = np.concatenate([[0], np.cumsum([len(place) for place in places])]).astype(np.int64)
        return replace(
            self,
            ids=tuple(self.ids[number] for number in numbers),
            values=self.values[rows],
            observed=self.observed[rows],
            offsets=bounds,
            axis=self.axis.select(numbers),
            covariates=None if self.covariates is None else self.covariates.select(numbers),
            weights=None if self.weights is None else self.weights[rows],
            channels=channels,
        )


def _entities(channels: Channels, numbers: Sequence[int]) -> tuple[str | int, ...]:
    """Give the entities of the chosen series, which must be whole ones."""
    count = len(channels)
    whole = [number for first in numbers[::count] for number in range(first, first + count)]
    assert list(numbers) == whole, "choose whole entities"
    assert all(first % count == 0 for first in numbers[::count]), "choose whole entities"
    return tuple(channels.entities[first // count] for first in numbers[::count])
