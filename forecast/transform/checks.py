"""Which series of a panel a transform cannot take."""

import numpy as np
from jaxtyping import Int64

from forecast.errors import DataError
from forecast.frames.panel import Panel
from forecast.transform.base import FIX, Transformation


def outside_series(
    panel: Panel, transformation: Transformation, *, context_length: int | None = None
) -> dict[str | int, DataError]:
    """Give the series with values outside the transform's domain, by id, each with the error that says so.

    With `context_length` only the newest steps of each series count: those that a forecast is made from.
    """
    domain = transformation.domain
    if domain.is_everything:
        return {}
    places = np.flatnonzero(panel.observed & ~domain.holds(panel.values))
    numbers = np.searchsorted(panel.offsets, places, side="right") - 1
    if context_length is not None:
        used = places >= panel.offsets[numbers + 1] - context_length
        places, numbers = places[used], numbers[used]
    return {
        panel.ids[number]: _error(panel, transformation, number=number, places=places[numbers == number])
        for number in np.unique(numbers).tolist()
    }


def _error(
    panel: Panel, transformation: Transformation, *, number: int, places: Int64[np.ndarray, " place"]
) -> DataError:
    name, first = panel.ids[number], int(places[0])
    stamp = panel.axis.stamps(number, first=first - int(panel.offsets[number]), count=1)[0]
    return DataError(
        f"series {name!r}: the target has {len(places):,} values that the transform {transformation.kind!r} cannot "
        f"take, the first {float(panel.values[first])!r} at {stamp}; it takes {transformation.domain}; {FIX}",
        series=str(name),
    )
