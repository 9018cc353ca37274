"""One frame that holds history and what is known ahead: where the target ends, the future begins."""

from typing import Any

import narwhals as nw
import numpy as np

from forecast.frames.contract import DataContract
from forecast.frames.door import read_table
from forecast.frames.ids import read_ids
from forecast.frames.stamps import read_stamps
from forecast.frames.targets import read_targets

NEVER = np.iinfo(np.int64).max


def split_ahead(frame: Any, contract: DataContract) -> tuple[Any, Any]:
    """Give the rows up to the newest known target of each series, and the rows after it, both in their order.

    `frame` is of pandas or polars, read as the contract reads it. A series without any target is all history.

    Raises:
        DataError: a column is absent, or of a type that it cannot have.
    """
    table = read_table(frame, contract.columns)
    series = read_ids(table.ids).series
    stamps = read_stamps(
        table.times,
        column=table.time_type,
        zone=contract.zone,
        series=series,
        time_format=contract.time_format,
    )
    ticks = stamps.moments.to_physical().fill_null(0).to_numpy()
    targets = read_targets(table)[0].is_not_null().to_numpy()
    known = targets.reshape(len(table.columns.targets), -1).any(axis=0)
    newest = np.full(int(series.max()) + 1, -NEVER)
    np.maximum.at(newest, series[known], ticks[known])
    ahead = ticks > np.where(newest == -NEVER, NEVER, newest)[series]
    rows = nw.from_native(frame, eager_only=True)
    return rows.filter((~ahead).tolist()).to_native(), rows.filter(ahead.tolist()).to_native()
