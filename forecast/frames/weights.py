"""The weights of rows: how much each step counts in the training loss."""

import numpy as np
import polars as pl
from jaxtyping import Float64

from forecast.errors import WrongType
from forecast.frames.door import Table
from forecast.frames.stepped import Stepped


def lay_weights(stepped: Stepped, table: Table) -> Float64[np.ndarray, " step"] | None:
    """Give the weight of every step of the panel, 1 where a step has no row; None where no column holds weights.

    Raises:
        WrongType: a weight is missing, below 0, infinite or no number.
    """
    if table.columns.weight is None:
        return None
    weights = _read(table.parts[table.columns.weight])
    rows = stepped.rows
    offsets = np.concatenate([[0], np.cumsum(stepped.lengths)])
    laid = np.ones(offsets[-1])
    laid[offsets[rows.group] + stepped.steps] = weights[rows.numbers % len(weights)]
    return laid


def _read(cells: pl.Series) -> Float64[np.ndarray, " row"]:
    weights = cells.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    bad = np.flatnonzero(~(weights >= 0) | np.isinf(weights))
    if len(bad):
        raise WrongType(
            f"column {cells.name!r} must hold a weight of 0 or more in every row; {len(bad):,} do not, the first is "
            f"row {bad[0]} with {cells[int(bad[0])]!r}; correct them, or leave out columns.weight",
            field=cells.name,
        )
    return weights
