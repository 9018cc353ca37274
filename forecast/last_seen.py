"""Series of whose newest steps few or none are observed: which they are, and what a model is shown of them."""

from dataclasses import replace

import numpy as np
from jaxtyping import Int64

from forecast.batch import Batch
from forecast.errors import DataError, MissingValues
from forecast.frames.panel import Panel


def blind_series(panel: Panel, *, context_length: int) -> dict[str | int, DataError]:
    """Give the series none of whose newest steps is observed, so that there is nothing to forecast from."""
    lengths = np.minimum(panel.lengths, context_length)
    return {
        panel.ids[number]: MissingValues(
            f"series {panel.ids[number]!r}: none of its newest {lengths[number]:,} steps has a value, so "
            f"there is nothing to forecast from; send values, or leave the series out",
            series=str(panel.ids[number]),
        )
        for number in np.flatnonzero(_num_observed(panel, newest=lengths) == 0).tolist()
    }


def silent_series(panel: Panel) -> dict[str | int, DataError]:
    """Give the series without one observed step."""
    return blind_series(panel, context_length=int(panel.lengths.max(initial=1)))


def naive_series(panel: Panel, *, context_length: int) -> dict[str | int, str]:
    """Give the series of whose newest steps one is observed, or none but an earlier one, with what is forecast.

    Where a context of one step was asked for, one observed step is all that was asked for.
    """
    lengths = np.minimum(panel.lengths, context_length)
    counts = _num_observed(panel, newest=lengths)
    found: dict[str | int, str] = {}
    for number in np.flatnonzero(counts < min(2, context_length)).tolist():
        how_many, which = ("one", "it") if counts[number] else ("none", "the newest before them")
        found[panel.ids[number]] = (
            f"series {panel.ids[number]!r}: {how_many} of its newest {lengths[number]:,} steps has a value; "
            f"its forecast repeats {which}"
        )
    return found


def _num_observed(panel: Panel, *, newest: Int64[np.ndarray, " series"]) -> Int64[np.ndarray, " series"]:
    """Count the observed ones of the newest steps of each series."""
    seen = np.concatenate([[0], np.cumsum(panel.observed)])
    ends = panel.offsets[1:]
    return seen[ends] - seen[ends - newest]


def show_newest(windows: Batch, panel: Panel, numbers: Int64[np.ndarray, " batch"]) -> Batch:
    """Show a window without a value the newest one from before it, as if it had come last: its forecast repeats it."""
    blind = ~windows.past_observed.any(dim=1)
    if not blind.any():
        return windows
    past, observed = windows.past.clone(), windows.past_observed.clone()
    for row in blind.nonzero().flatten().tolist():
        steps = panel.series(int(numbers[row]))
        past[row, -1], observed[row, -1] = panel.values[steps][panel.observed[steps]][-1], True
    return replace(windows, past=past, past_observed=observed)
