"""Panels for the tests of the offline house."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
import pytest

from forecast.frames.calendar.base import Origins
from forecast.frames.column_type import ColumnType
from forecast.frames.frequency import Frequency
from forecast.frames.panel import Panel
from forecast.frames.time import StampType, TimeAxis

MakePanel = Callable[..., Panel]


@pytest.fixture(scope="session")
def make_panel() -> MakePanel:
    """Builds a panel of the given series on integer time; NaN is a step without an observation."""
    return _panel


def _panel(*series: Sequence[float]) -> Panel:
    arrays = [np.asarray(values, dtype=np.float64) for values in series]
    values = np.concatenate([*arrays, np.empty(0)])
    starts = np.zeros(len(arrays), dtype=np.int64)
    axis = TimeAxis(
        frequency=Frequency.parse(1),
        stamp_type=StampType(column=ColumnType(pl.Int64()), dtype=pl.Int64()),
        origins=Origins(places=starts, times_of_day=starts, month_days=starts),
    )
    return Panel(
        ids=tuple(f"s{number}" for number in range(len(arrays))),
        values=np.nan_to_num(values),
        observed=np.isfinite(values),
        offsets=np.cumsum([0, *map(len, arrays)]).astype(np.int64),
        axis=axis,
    )
