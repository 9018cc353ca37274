"""The answer to a forecast request, as columns, written to JSON without a detour."""

from typing import Any

import numpy as np
import orjson
from jaxtyping import Bool, Int64

from api.catalog.base import Served
from api.errors import Refused
from api.findings import entities
from api.question import Question
from api.schemas import SeriesFault
from forecast.forecast import Forecast
from forecast.frames.answer import quantile_name

OPTIONS = orjson.OPT_SERIALIZE_NUMPY


def write_answer(question: Question, forecast: Forecast, served: Served) -> bytes:
    """Write the forecasts as `ForecastAnswer`; a series whose forecast is not finite is answered by a fault.

    Raises:
        Refused: no forecast is finite.
    """
    finite = _finite(forecast, num_targets=question.panel.num_channels)
    if not finite.any():
        raise Refused(
            "the forecast of every series leaves the range of numbers; send values in a larger unit",
            status=422,
            code="not_finite",
        )
    kept = np.flatnonzero(finite)
    answer = {
        "model": {"name": served.entry.name, "version": served.entry.version, "digest": served.digest},
        "freq": question.panel.axis.frequency.text,
        "zone": question.starts.zone,
        "horizon": question.asked.horizon,
        "series": _columns(question, forecast, kept),
        "warnings": {name: [dict(one) for one in found] for name, found in question.warnings.items()},
        "notices": [dict(notice) for notice in question.notices],
        "errors": {name: dict(fault) for name, fault in _faults(question, finite).items()},
    }
    return orjson.dumps(answer, option=OPTIONS)


def _finite(forecast: Forecast, *, num_targets: int) -> Bool[np.ndarray, " series"]:
    every = np.concatenate([forecast.mean[:, :, None], forecast.quantiles], axis=2)
    return np.isfinite(np.abs(every).max(axis=(1, 2))).reshape(-1, num_targets).all(axis=1)


def _columns(question: Question, forecast: Forecast, kept: Int64[np.ndarray, " row"]) -> dict[str, Any]:
    horizon, panel, ids = question.asked.horizon, question.panel, entities(question.panel)
    rows = np.repeat(kept * panel.num_channels, horizon)
    steps = panel.lengths[rows] + np.tile(np.arange(horizon, dtype=np.int64), len(kept))
    series = np.repeat(np.array(question.numbers, dtype=np.int64)[kept], horizon)
    stamps = question.starts.write(panel.axis, series=series, numbers=rows, steps=steps)
    columns = {
        "unique_id": [ids[row] for row in kept],
        "sizes": [horizon] * len(kept),
        "start": stamps[::horizon],
        "timestamps": stamps,
    }
    if panel.channels is None:
        return columns | _values(forecast, kept)
    targets = enumerate(panel.channels.names)
    return columns | {"targets": {name: _values(forecast, kept * len(panel.channels) + at) for at, name in targets}}


def _values(forecast: Forecast, rows: Int64[np.ndarray, " row"]) -> dict[str, Any]:
    return {
        "mean": forecast.mean[rows].ravel(),
        "quantiles": {
            quantile_name(level): np.ascontiguousarray(forecast.quantiles[rows, :, place]).ravel()
            for place, level in enumerate(forecast.quantile_levels)
        },
    }


def _faults(question: Question, finite: Bool[np.ndarray, " series"]) -> dict[str, SeriesFault]:
    faults, ids = dict(question.faults), entities(question.panel)
    for row in np.flatnonzero(~finite):
        faults[ids[row]] = SeriesFault(
            pointer=f"/series/unique_id/{question.numbers[row]}",
            code="not_finite",
            message="the forecast leaves the range of numbers; send the series in a larger unit",
            field="y",
        )
    return faults
