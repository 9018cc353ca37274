"""A sample of the data as a caller would send it: what a registered model is tried on, and described by."""

import numpy as np
import polars as pl

from forecast.frames.contract import Prepared
from forecast.frames.covariates import Covariates
from forecast.frames.panel import Panel
from forecast.last_seen import blind_series


def sample(prepared: Prepared, *, num_steps: int, horizon: int) -> pl.DataFrame:
    """Give the newest rows of the first series that has values lately, under the caller's names and in their types.

    Where covariates are known ahead, the last `horizon` rows have them and no target: they are what lies ahead.
    """
    panel, columns = prepared.panel, prepared.columns
    size = len(columns.targets)
    first = _seen(panel, num_steps=num_steps) // size * size
    length = int(panel.lengths[first])
    ahead = min(horizon, length - 1) if panel.covariates is not None and panel.covariates.schema.future else 0
    steps = np.arange(max(0, length - num_steps - ahead), length)
    names = panel.ids if panel.channels is None else panel.channels.entities
    found = [
        pl.Series(columns.id, [names[first // size]] * len(steps)),
        panel.axis.stamps(first, first=int(steps[0]), count=len(steps)).alias(columns.time),
    ]
    for channel, name in enumerate(columns.targets):
        found.append(_target(panel, first + channel, steps, num_known=len(steps) - ahead).alias(name))
    found += _covariates(panel.covariates, first, steps)
    return pl.DataFrame([_typed(column, prepared.types.get(column.name)) for column in found])


def _typed(column: pl.Series, dtype: pl.DataType | None) -> pl.Series:
    """Give a column in the type that it came in, where that can hold what it holds."""
    if dtype is None or isinstance(dtype, pl.Enum | pl.Categorical):
        return column
    return column.cast(dtype)


def _seen(panel: Panel, *, num_steps: int) -> int:
    blind = blind_series(panel, context_length=num_steps)
    return next((number for number, name in enumerate(panel.ids) if name not in blind), 0)


def _target(panel: Panel, series: int, steps: np.ndarray, *, num_known: int) -> pl.Series:
    places = panel.offsets[series] + steps
    known = panel.observed[places] & (np.arange(len(steps)) < num_known)
    return pl.Series(panel.values[places]).set(pl.Series(~known), None)


def _covariates(covariates: Covariates | None, series: int, steps: np.ndarray) -> list[pl.Series]:
    if covariates is None:
        return []
    schema = covariates.schema
    rows = covariates.starts[series] + steps
    found = []
    given = (*schema.past, *schema.future)
    for covariate, values, observed in zip(
        given, covariates.values[: len(given)], covariates.observed[: len(given)], strict=True
    ):
        known = np.ones(len(rows), dtype=bool) if observed is None else observed[rows]
        found.append(_as_sent(covariate.levels, values[rows], known).alias(covariate.name))
    for place, covariate in enumerate(schema.static):
        values = np.full(len(rows), covariates.static[series, place])
        known = np.full(len(rows), covariates.static_observed[series, place])
        found.append(_as_sent(covariate.levels, values, known).alias(covariate.name))
    return found


def _as_sent(levels: tuple[str, ...], values: np.ndarray, known: np.ndarray) -> pl.Series:
    """Give numbers as they are and codes as the categories that they stand for."""
    if not levels:
        return pl.Series(values).set(pl.Series(~known), None)
    names = pl.Series([None, *levels], dtype=pl.String)
    return names.gather(np.where(known, values, 0).astype(np.int64))
