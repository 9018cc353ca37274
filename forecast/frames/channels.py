"""Several targets a row as several series: each pair of entity and target is a series of its own."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Int64

from forecast.frames.ids import SeriesIds
from forecast.frames.ledger import Ledger
from forecast.frames.panel import Channels


@dataclass(frozen=True, eq=False)
class Spread:
    """The rows of a frame once for each of its targets, one target after the other."""

    names: tuple[str | int, ...]
    """The id of each series: the entity's, or `entity/target` where there are several targets."""

    series: Int64[np.ndarray, " row"]
    """The number of each row's series: those of the first entity, then of the second."""

    times: pl.Series
    """The caller's stamps."""

    moments: pl.Series


def spread_channels(ids: SeriesIds, *, times: pl.Series, moments: pl.Series, targets: tuple[str, ...]) -> Spread:
    """Repeat the rows for each target; nothing changes where there is one."""
    if len(targets) == 1:
        return Spread(ids.names, ids.series, times, moments)
    count = len(targets)
    return Spread(
        names=tuple(f"{name}/{target}" for name in ids.names for target in targets),
        series=np.concatenate([ids.series * count + channel for channel in range(count)]),
        times=pl.concat([times] * count),
        moments=pl.concat([moments] * count),
    )


def leave_whole_entities(ledger: Ledger, *, num_channels: int) -> None:
    """Put the other channels of an entity at fault with the one that is: what belongs together goes together."""
    for found in (ledger.faults, ledger.dropped) if num_channels > 1 else ():
        for number, error in list(found.items()):
            first = number - number % num_channels
            for sibling in range(first, first + num_channels):
                found.setdefault(sibling, error)


def channels_of(ids: SeriesIds, kept: Int64[np.ndarray, " series"], *, targets: tuple[str, ...]) -> Channels | None:
    """Give which series belong together; `kept` numbers those that go on, whole entities."""
    if len(targets) == 1:
        return None
    return Channels(targets, tuple(ids.names[number // len(targets)] for number in kept[:: len(targets)].tolist()))
