"""From a wide table, one series a column, to a long frame."""

from collections.abc import Sequence

import polars as pl


def melt(frame: pl.DataFrame, *, time: str, series: Sequence[str]) -> pl.DataFrame:
    """Give the columns `series` below each other, in that order, as `unique_id`, `ds`, `y`.

    An empty cell stays a row with a missing value: nothing here tells "not measured" from "not yet begun".
    """
    long = frame.unpivot(on=list(series), index=time, variable_name="unique_id", value_name="y")
    return long.select("unique_id", pl.col(time).alias("ds"), "y")
