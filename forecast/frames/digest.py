"""A digest of a panel's whole content: ids, values, gaps and stamps; equal for equal data whatever frame held it."""

import hashlib
import json
from collections.abc import Callable, Iterator

import numpy as np
from jaxtyping import Shaped

from forecast.config import to_plain
from forecast.frames.covariates import Covariates
from forecast.frames.panel import Panel

NUM_CHARACTERS = 32  # MLflow keeps 36; 128 bits tell data sets apart
CHUNK = 1 << 20  # rows read at a time, so that a panel larger than memory is never held whole; a multiple of 8 bits

Add = Callable[[bytes], None]


def panel_digest(panel: Panel) -> str:
    """Give 32 hexadecimal digits that change with any id, value, mask, stamp, frequency, zone, or the series' order.

    They change too with covariates, weights and channels, where the panel has them.
    """
    origins = panel.axis.origins
    names = [panel.axis.frequency.text, panel.axis.zone, *panel.ids]
    content = hashlib.sha256(json.dumps(names).encode())
    _add_numbers(panel.values, content.update)
    _add_mask(panel.observed, content.update)
    for whole_numbers in (panel.offsets, origins.places, origins.times_of_day, origins.month_days):
        _add_whole_numbers(whole_numbers, content.update)
    if panel.covariates is not None:
        _add_covariates(panel.covariates, content.update)
    if panel.weights is not None:
        content.update(b"weights")
        _add_numbers(panel.weights, content.update)
    if panel.channels is not None:
        content.update(json.dumps(["channels", panel.channels.names, panel.channels.entities]).encode())
    return content.hexdigest()[:NUM_CHARACTERS]


def _add_covariates(covariates: Covariates, add: Add) -> None:
    """Add what each series is told, wherever its rows lie and whoever shares them."""
    add(json.dumps(["covariates", to_plain(covariates.schema)]).encode())
    _add_whole_numbers(covariates.lengths, add)
    places = [slice(start, start + length) for start, length in zip(covariates.starts, covariates.lengths, strict=True)]
    for values, observed in zip(covariates.values, covariates.observed, strict=True):
        for place in places:
            _add_numbers(values[place], add)
            _add_mask(np.ones(place.stop - place.start, dtype=bool) if observed is None else observed[place], add)
    _add_numbers(covariates.static, add)
    _add_mask(covariates.static_observed, add)


def _add_numbers(numbers: Shaped[np.ndarray, " row *column"], add: Add) -> None:
    for chunk in _chunks(numbers):
        add(chunk.astype("<f8", copy=False).tobytes())


def _add_whole_numbers(numbers: Shaped[np.ndarray, " row"], add: Add) -> None:
    for chunk in _chunks(numbers):
        add(chunk.astype("<i8", copy=False).tobytes())


def _add_mask(mask: Shaped[np.ndarray, " row *column"], add: Add) -> None:
    for chunk in _chunks(mask.reshape(-1)):
        add(np.packbits(chunk).tobytes())


def _chunks(array: Shaped[np.ndarray, " row *column"]) -> Iterator[Shaped[np.ndarray, " chunk *column"]]:
    for start in range(0, len(array), CHUNK):
        yield array[start : start + CHUNK]
