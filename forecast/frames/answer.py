"""Forecasts and histories as frames of the caller's library, with the caller's ids and stamps."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Int64

from forecast.errors import ConfigError
from forecast.forecast import Forecast
from forecast.frames.column_type import ColumnType, Kind
from forecast.frames.columns import Columns
from forecast.frames.covariates import Covariate
from forecast.frames.door import frame_of
from forecast.frames.panel import Panel

FLOAT = ColumnType(pl.Float64())
TEXT = ColumnType(pl.String())

TARGET_NAME = "target_name"
"""The column that says which target a row is of, where each entity has several."""


def quantile_name(level: float) -> str:
    """Name the column of a quantile level: its decimal as written, never in exponent form, so that no two collide."""
    return format(Decimal(repr(float(level))).normalize(), "f")


def levels_of(*, level: Sequence[float | int]) -> tuple[float, ...]:
    """Give the quantile levels that bound central intervals of so many percent: `[80]` gives exactly (0.1, 0.9).

    Raises:
        ConfigError: a level is not between 0 and 100.
    """
    bounds: set[Decimal] = set()
    for percent in level:
        if not 0 < percent < 100:
            raise ConfigError(f"level must lie between 0 and 100 percent, got {percent}; 80 is usual", field="level")
        tail = (1 - Decimal(str(percent)) / 100) / 2
        bounds |= {tail, 1 - tail}
    return tuple(float(bound) for bound in sorted(bounds))


def forecast_frame(panel: Panel, forecast: Forecast, *, like: Kind, columns: Columns) -> Any:
    """Give a forecast as a long frame: id, time, `mean` and one column a quantile level named by its decimal.

    Row `k` of the forecast is of series `k` of the panel and begins right after its last step. Ids and stamps come
    back in the types of the caller's own frame; series in the panel's order.
    """
    num_series, horizon = forecast.mean.shape
    numbers = np.repeat(np.arange(num_series, dtype=np.int64), horizon)
    steps = panel.lengths[numbers] + np.tile(np.arange(horizon, dtype=np.int64), num_series)
    points = [(pl.Series("mean", forecast.mean.ravel()), FLOAT)]
    for place, level in enumerate(forecast.quantile_levels):
        points.append((pl.Series(quantile_name(level), forecast.quantiles[:, :, place].ravel()), FLOAT))
    return frame_of([*_keys(panel, numbers, steps, columns=columns), *points], like=like)


def history_frame(panel: Panel, *, like: Kind, columns: Columns) -> Any:
    """Give the panel back as a long frame: id, time and target of every step, null where it is unobserved."""
    numbers = np.repeat(np.arange(len(panel), dtype=np.int64), panel.lengths)
    steps = np.arange(len(numbers), dtype=np.int64) - panel.offsets[numbers]
    name = columns.target if isinstance(columns.target, str) else "value"
    values = pl.Series(name, panel.values).set(pl.Series(~panel.observed), None)
    return frame_of([*_keys(panel, numbers, steps, columns=columns), (values, FLOAT)], like=like)


def future_frame(panel: Panel, *, horizon: int, covariates: Sequence[Covariate], like: Kind, columns: Columns) -> Any:
    """Give the template of a future frame: id and time of the `horizon` steps after each series, covariates null."""
    firsts = np.arange(0, len(panel), 1 if panel.channels is None else len(panel.channels), dtype=np.int64)
    numbers = np.repeat(firsts, horizon)
    steps = panel.lengths[numbers] + np.tile(np.arange(horizon, dtype=np.int64), len(firsts))
    ids, stamps = _keys(panel, numbers, steps, columns=columns)[:2]
    empty = [_empty(covariate, num_rows=len(numbers)) for covariate in covariates]
    return frame_of([ids, stamps, *empty], like=like)


def _empty(covariate: Covariate, *, num_rows: int) -> tuple[pl.Series, ColumnType]:
    """Give a column to be filled in: with numbers, or with the names of categories."""
    column_type = FLOAT if covariate.kind == "numeric" else TEXT
    return pl.Series(covariate.name, [None] * num_rows, dtype=column_type.dtype), column_type


def _keys(
    panel: Panel, numbers: Int64[np.ndarray, " row"], steps: Int64[np.ndarray, " row"], *, columns: Columns
) -> list[tuple[pl.Series, ColumnType]]:
    channels = panel.channels
    ids = pl.Series(columns.id, panel.ids if channels is None else channels.entities)
    stamps = panel.axis.stamps_at(numbers, steps=steps).alias(columns.time)
    id_type = panel.id_type or ColumnType(ids.dtype)
    keys = [(stamps, panel.axis.stamp_type.column)]
    if channels is None:
        return [(ids.gather(numbers), id_type), *keys]
    targets = pl.Series(TARGET_NAME, channels.names).gather(numbers % len(channels))
    return [(ids.gather(numbers // len(channels)), id_type), *keys, (targets, ColumnType(targets.dtype))]
