"""From wide tables to long frames: one series a column, or one series a row."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import polars as pl
from pydantic import Discriminator, Tag

from forecast.config import config
from forecast.errors import SourceError
from pipelines.sources.table import Table

CELLS = 1_000_000
"""Cells of a wide table that are turned at once: some tens of megabytes."""


@config
class SeriesInColumns:
    """The files hold one series a column, each row one time step."""

    time: str
    """Name of the column of stamps; every other column is a series named by its header."""

    def chunks(self, table: Table) -> Iterator[pl.DataFrame]:
        """Give the series below each other, in the order of the columns, a few at a time.

        Raises:
            SourceError: the column is not there, or another one holds no numbers.
        """
        series = _others(table.schema, self.time, field="wide.time")
        at_once = max(1, CELLS // max(1, table.num_rows()))
        for first in range(0, len(series), at_once):
            chosen = series[first : first + at_once]
            yield melt(pl.concat(table.chunks([self.time, *chosen])), time=self.time, series=chosen)


@config
class SeriesInRows:
    """The files hold one series a row, each column but one a time step; the headers of the steps are not looked at.

    Empty cells at the end of a row lie past the end of its series; other empty cells are missing values.
    """

    id: str
    """Name of the column of ids."""

    start: int = 0
    """The stamp of the first step; the stamps of all series are integers that count on from it."""

    def chunks(self, table: Table) -> Iterator[pl.DataFrame]:
        """Give the series below each other, in the order of the rows.

        Raises:
            SourceError: the column is not there, or another one holds no numbers.
        """
        steps = _others(table.schema, self.id, field="wide.id")
        for piece in table.chunks(rows=max(1, CELLS // max(1, len(steps)))):
            yield stack(piece, series=self.id, steps=steps, start=self.start)


def _form(value: Any) -> str:
    is_rows = "id" in value if isinstance(value, Mapping) else isinstance(value, SeriesInRows)
    return "rows" if is_rows else "columns"


Wide = Annotated[
    Annotated[SeriesInColumns, Tag("columns")] | Annotated[SeriesInRows, Tag("rows")], Discriminator(_form)
]
"""The two forms, told apart by the column that each names: `time` or `id`."""


def melt(frame: pl.DataFrame, *, time: str, series: Sequence[str]) -> pl.DataFrame:
    """Give the columns `series` below each other, in that order, as `unique_id`, `ds`, `y`.

    An empty cell stays a row with a missing value: nothing here tells "not measured" from "not yet begun".
    """
    long = frame.unpivot(on=list(series), index=time, variable_name="unique_id", value_name="y")
    return long.select("unique_id", pl.col(time).alias("ds"), pl.col("y").cast(pl.Float64))


def stack(frame: pl.DataFrame, *, series: str, steps: Sequence[str], start: int) -> pl.DataFrame:
    """Give the rows below each other as `unique_id`, `ds`, `y`; a row without any value keeps its first step."""
    cells = frame.select(pl.col(series).alias("unique_id"), y=pl.concat_list(pl.col(steps).cast(pl.Float64)))
    last = pl.col("y").list.eval(pl.element().is_not_null().arg_true().max()).list.first()
    kept = cells.with_columns(y=pl.col("y").list.head(last.fill_null(0) + 1))
    stamped = kept.with_columns(ds=pl.int_ranges(start, start + pl.col("y").list.len(), dtype=pl.Int64))
    return stamped.explode("ds", "y").select("unique_id", "ds", "y")


def _others(schema: Mapping[str, pl.DataType], name: str, *, field: str) -> list[str]:
    if name not in schema:
        raise SourceError(f"no column is called {name!r}; the files have {[*schema]}", field=field)
    others = [other for other in schema if other != name]
    if text := [other for other in others if not (schema[other].is_numeric() or schema[other] == pl.Null)]:
        raise SourceError(
            f"columns {text} hold no numbers, so they are no series; leave them out of the files, or read a long frame "
            f"without `wide`",
            field="wide",
        )
    return others
