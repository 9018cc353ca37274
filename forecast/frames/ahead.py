"""One frame that holds history and what is known ahead: where the target ends, the future begins."""

from typing import Any

import narwhals as nw
import numpy as np

from forecast.frames.columns import Columns


def split_ahead(frame: Any, columns: Columns) -> tuple[Any, Any]:
    """Give the rows up to the newest known target of each series, and the rows after it.

    `frame` is of pandas or polars, the rows of each series in order of time; without an id column it is one series.
    """
    table = nw.from_native(frame, eager_only=True)
    known = np.logical_or.reduce([~table[name].is_null().to_numpy() for name in columns.targets])
    numbers = np.arange(len(table))
    ids = table[columns.id].to_list() if columns.id in table.columns else [None] * len(table)
    newest: dict[Any, int] = {}
    for number in numbers[known].tolist():
        newest[ids[number]] = number
    ahead = numbers > np.array([newest.get(name, -1) for name in ids], dtype=np.int64)
    return table.filter((~ahead).tolist()).to_native(), table.filter(ahead.tolist()).to_native()
