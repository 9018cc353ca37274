"""One frame that holds history and what is known ahead: where the target ends, the future begins."""

from typing import Any

import narwhals as nw

from forecast.frames.columns import Columns


def split_ahead(frame: Any, columns: Columns) -> tuple[Any, Any]:
    """Give the rows up to the newest known target of each series, and the rows after it.

    `frame` is of pandas or polars, its stamps sortable; without an id column it is one series.
    """
    table = nw.from_native(frame, eager_only=True)
    known = nw.any_horizontal(*(~nw.col(name).is_null() for name in columns.targets), ignore_nulls=True)
    newest = nw.when(known).then(nw.col(columns.time)).max()
    if columns.id in table.columns:
        newest = nw.when(known).then(nw.col(columns.time)).max().over(columns.id)
    ahead = table.with_columns(longcast_ahead=nw.col(columns.time) > newest)
    chosen = nw.col("longcast_ahead")
    history, future = ahead.filter(~chosen), ahead.filter(chosen)
    return tuple(nw.to_native(part.drop("longcast_ahead")) for part in (history, future))
