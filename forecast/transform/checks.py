"""Which series of a panel a transform cannot take."""

import numpy as np

from forecast.errors import DataError
from forecast.frames.panel import Panel
from forecast.transform.base import FIX, Transformation

NAMED = 5
"""Further series that an error names."""


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
    found, firsts, counts = np.unique(numbers, return_index=True, return_counts=True)
    stamps = panel.axis.stamps_at(found, steps=places[firsts] - panel.offsets[found])
    return {
        panel.ids[number]: DataError(
            f"series {panel.ids[number]!r}: the target has {count:,} values that the transform {transformation.kind!r} "
            f"cannot take, the first {value!r} at {stamp}; it takes {domain}; {FIX}",
            series=str(panel.ids[number]),
        )
        for number, count, value, stamp in zip(
            found.tolist(), counts.tolist(), panel.values[places[firsts]].tolist(), stamps, strict=True
        )
    }


def refuse_outside_series(panel: Panel, transformation: Transformation) -> None:
    """Refuse a panel of which a series has values outside the transform's domain.

    Raises:
        DataError: names the first such series, its first value, and how many more series there are.
    """
    found = outside_series(panel, transformation)
    if not found:
        return
    (_, error), *others = found.items()
    if not others:
        raise error
    named = ", ".join(repr(name) for name, _ in others[:NAMED])
    more = f"{len(others):,} more series are at fault: {named}{', ...' if len(others) > NAMED else ''}"
    raise DataError(f"{error}\n{more}", series=error.series)
