"""The id column: which series each row belongs to; series are numbered by their ids, so no order of rows shows."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Int64

from forecast.errors import MissingValues, WrongType


@dataclass(frozen=True, eq=False)
class SeriesIds:
    """The series of a frame."""

    names: tuple[str | int, ...]
    """Each series' id once, sorted: integers by value, text by code point."""

    series: Int64[np.ndarray, " row"]
    """The number of each row's series, a place in `names`."""


def read_ids(ids: pl.Series) -> SeriesIds:
    """Number the series of an id column of text, categories or integers.

    Raises:
        WrongType: the ids are of another type.
        MissingValues: a row has no id.
    """
    keys = _keys(ids)
    if keys.null_count():
        row = int(keys.is_null().arg_max() or 0)
        raise MissingValues(
            f"column {ids.name!r} has no id in {keys.null_count()} rows, the first is row {row}; "
            f"give each row the id of its series, or drop these rows",
            field=ids.name,
        )
    names = keys.unique().sort()
    series = keys.replace_strict(names, pl.int_range(len(names), eager=True), return_dtype=pl.Int64)
    return SeriesIds(tuple(names.to_list()), series.to_numpy())


def _keys(ids: pl.Series) -> pl.Series:
    if isinstance(ids.dtype, pl.Categorical | pl.Enum):
        return ids.cast(pl.String)
    if ids.dtype == pl.String or ids.dtype.is_integer():
        return ids
    raise WrongType(
        f"column {ids.name!r} must name the series by text or integers, it holds {ids.dtype}; cast it first",
        field=ids.name,
    )
