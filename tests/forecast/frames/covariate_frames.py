"""Frames with covariates for the tests: two daily series, what is known of them, and the steps after their ends."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl

from forecast.frames.contract import Prepared
from forecast.frames.covariates import Covariate

FIRST = date(2024, 1, 1)
NAN = float("nan")
ENDS = {"a": 4, "b": 3}
"""The series of `history`: `a` has days 0 to 3, `b` days 0 to 2."""


def day(number: int) -> date:
    return FIRST + timedelta(days=number)


def history(**columns: list[Any]) -> dict[str, list[Any]]:
    """Seven rows, those of `a` first; each further column has seven values."""
    keys = [(name, number) for name, length in ENDS.items() for number in range(length)]
    return {
        "unique_id": [name for name, _ in keys],
        "ds": [day(number) for _, number in keys],
        "y": [float(number) for number in range(7)],
        **columns,
    }


def ahead(horizon: int, **columns: list[Any]) -> dict[str, list[Any]]:
    """The steps after the end of `a`, then those of `b`."""
    keys = [(name, end + step) for name, end in ENDS.items() for step in range(horizon)]
    return {"unique_id": [name for name, _ in keys], "ds": [day(number) for _, number in keys], **columns}


def told(prepared: Prepared, name: str) -> list[list[Any]]:
    """What each series is told by a covariate, step by step; None where nothing is known, levels by their names."""
    covariates = prepared.panel.covariates
    assert covariates is not None
    place = [covariate.name for covariate in covariates.schema.steps].index(name)
    values, observed = covariates.values[place], covariates.observed[place]
    observed = np.ones(len(values), dtype=bool) if observed is None else observed
    rows = [slice(start, start + count) for start, count in zip(covariates.starts, covariates.lengths, strict=True)]
    return [
        [_read(covariates.schema.steps[place], *cell) for cell in zip(values[row], observed[row], strict=True)]
        for row in rows
    ]


def told_once(prepared: Prepared, name: str) -> list[Any]:
    """What each series is told by a static covariate."""
    covariates = prepared.panel.covariates
    assert covariates is not None
    place = [covariate.name for covariate in covariates.schema.static].index(name)
    cells = zip(covariates.static[:, place], covariates.static_observed[:, place], strict=True)
    return [_read(covariates.schema.static[place], *cell) for cell in cells]


def _read(covariate: Covariate, value: float, observed: bool) -> Any:
    if not observed:
        assert value == 0.0, "what is unobserved must be 0"
        return None
    return float(value) if covariate.kind == "numeric" else ("UNKNOWN", *covariate.levels)[int(value)]


def everything(prepared: Prepared) -> Mapping[str | int, Any]:
    """All that each series is told, by id, so that the order of series does not matter."""
    covariates = prepared.panel.covariates
    assert covariates is not None
    steps = {covariate.name: told(prepared, covariate.name) for covariate in covariates.schema.steps}
    static = {covariate.name: told_once(prepared, covariate.name) for covariate in covariates.schema.static}
    return {
        name: {column: cells[number] for column, cells in (steps | static).items()}
        for number, name in enumerate(prepared.panel.ids)
    }


def shuffled(frame: pl.DataFrame, random: Any) -> pl.DataFrame:
    """The rows and the columns in another order."""
    rows = random.sample(range(len(frame)), len(frame))
    return frame[rows].select(random.sample(frame.columns, len(frame.columns)))
