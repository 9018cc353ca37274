"""Frames of pandas, polars and pyarrow in: the columns that matter, as polars, with the types the caller gave them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from narwhals import dependencies as native

from forecast.errors import DataError, WrongType
from forecast.frames.column_type import ColumnType, Kind
from forecast.frames.columns import ONLY_SERIES, Columns
from forecast.frames.zones import with_named_zone


@dataclass(frozen=True, eq=False)
class Table:
    """The columns of a frame that play a part, row for row as given."""

    ids: pl.Series
    times: pl.Series
    id_type: ColumnType
    time_type: ColumnType
    columns: Columns
    """The names under which the columns were found."""

    parts: Mapping[str, pl.Series]
    """The other columns that were asked for and found, by name: targets, weight, covariates."""

    ignored: tuple[str, ...]
    """Columns of the frame that play no part."""

    has_ids: bool
    """False where the frame has no id column, so that all its rows are of one series."""


def kind_of(frame: Any) -> Kind:
    """Give the library a frame belongs to.

    Raises:
        WrongType: it is no frame.
    """
    if native.is_pandas_dataframe(frame):
        return "pandas"
    if native.is_polars_dataframe(frame) or native.is_polars_lazyframe(frame):
        return "polars"
    if native.is_pyarrow_table(frame):
        return "pyarrow"
    raise WrongType(
        f"a frame of pandas or polars or a pyarrow table is needed, got {type(frame).__name__}; convert it first"
    )


def read_table(frame: Any, columns: Columns, *, covariates: Sequence[str] = ()) -> Table:
    """Take the columns that matter out of a frame; a pandas index that has a name counts as a column.

    Covariates that the frame lacks are no fault here: they may lie in a frame of their own.

    Raises:
        ColumnMissing: a column is absent or ambiguous.
        WrongType: a column mixes types.
        DataError: the frame holds no rows.
    """
    eager, names = _opened(frame)
    found = columns.resolve(names)
    wanted = (*found.targets, *([] if found.weight is None else [found.weight]), *covariates)
    table = _table(eager, names, columns=found, wanted=wanted)
    if not len(table.times):
        raise DataError("the frame holds no rows; send at least one for each series to forecast")
    return table


def read_side_table(frame: Any, columns: Columns, *, covariates: Sequence[str]) -> Table:
    """Take the keys and covariates out of a frame that need not hold a target; it may have no rows.

    Raises:
        ColumnMissing: the id or time column is absent or ambiguous.
        WrongType: a column mixes types.
    """
    eager, names = _opened(frame)
    return _table(eager, names, columns=columns.resolve_keys(names), wanted=covariates)


def _opened(frame: Any) -> tuple[Any, list[str]]:
    eager = _eager(frame, kind_of(frame))
    return eager, list(eager.column_names if native.is_pyarrow_table(eager) else eager.columns)


def _table(eager: Any, names: Sequence[str], *, columns: Columns, wanted: Sequence[str]) -> Table:
    times, time_type = _column(eager, columns.time)
    ids, id_type = _column(eager, columns.id) if columns.id in names else _only_series(len(times), columns.id)
    parts = {name: _column(eager, name)[0] for name in dict.fromkeys(wanted) if name in names}
    ignored = tuple(name for name in names if name not in (columns.id, columns.time, *parts))
    has_ids = columns.id in names
    return Table(ids, times, id_type, time_type, columns=columns, parts=parts, ignored=ignored, has_ids=has_ids)


def _eager(frame: Any, kind: Kind) -> Any:
    if native.is_polars_lazyframe(frame):
        return frame.collect()
    if kind != "pandas":
        return frame
    names = [name for name in frame.index.names if name is not None and name not in frame.columns]
    return frame.reset_index(level=names) if names else frame


def _column(frame: Any, name: str) -> tuple[pl.Series, ColumnType]:
    column = frame[name]
    values = _to_polars(column, name)
    if native.is_pandas_series(column):
        return values, ColumnType(values.dtype, pandas=column.dtype)
    return values, ColumnType(values.dtype, arrow=getattr(column, "type", None))


def _to_polars(column: Any, name: str) -> pl.Series:
    """Convert a column of any library; pandas and pyarrow have many ways to say that they cannot."""
    if isinstance(column, pl.Series):
        return column
    column = with_named_zone(column, name=name)
    try:
        values = pl.from_pandas(column) if native.is_pandas_series(column) else pl.Series(pl.from_arrow(column))
    except (TypeError, ValueError, pl.exceptions.PolarsError) as failure:
        raise WrongType(f"column {name!r} cannot be read: {failure}; give it one type", field=name) from None
    return values.alias(name)


def _only_series(num_rows: int, name: str) -> tuple[pl.Series, ColumnType]:
    ids = pl.Series(name, [ONLY_SERIES]).new_from_index(0, num_rows)
    return ids, ColumnType(ids.dtype)


def frame_of(columns: Sequence[tuple[pl.Series, ColumnType]], *, like: Kind) -> Any:
    """Build a frame of the library asked for, each column in its caller's type."""
    if like == "pandas":
        import pandas

        return pandas.DataFrame(
            {values.name: column_type.restore(values, like=like) for values, column_type in columns}
        )
    frame = pl.DataFrame([column_type.restore(values, like=like) for values, column_type in columns])
    if like == "polars":
        return frame
    table = frame.to_arrow()
    for place, (values, column_type) in enumerate(columns):
        table = table.set_column(place, values.name, column_type.restore_arrow(table.column(place)))
    return table
