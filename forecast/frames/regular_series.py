"""Series without a gap or a duplicate, by construction, and the rows of a frame that they stand for."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
import polars as pl
from jaxtyping import Bool, Float64, Int64

from forecast.frames.beside import SideRows
from forecast.frames.column_type import ColumnType
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract
from forecast.frames.door import Table
from forecast.frames.stepped import Stepped
from forecast.frames.time import TimeAxis

TIME, TARGET = "start", "y"
"""The names by which messages call the starts, and the values where there is one target."""

Cells = Mapping[str, pl.Series]
"""Columns of covariates by name: numbers (never infinite), booleans or text; null or NaN where a cell is missing."""


@dataclass(frozen=True, eq=False)
class RegularSeries:
    """Series given whole, a start and a run of values each. In every column they lie end to end."""

    ids: tuple[str | int, ...]
    """Unique."""

    starts: pl.Series
    """The first stamp of each series, from 1700 to 2261 and, once the series are prepared, without nulls: Int64, or
    Datetime, naive or in the zone in which days are counted."""

    sizes: Int64[np.ndarray, " series"]
    """Steps of each series, 0 or more."""

    values: tuple[Float64[np.ndarray, " step"], ...]
    """One array a target, in the order of the contract; NaN where a value is missing, never infinite."""

    past: Cells = field(default_factory=dict)
    """The history of covariates, also of those that are known ahead: a cell a step."""

    future: Cells = field(default_factory=dict)
    """What is known ahead: a cell for each step of the horizon of each series."""

    static: Cells = field(default_factory=dict)
    """A cell a series."""

    @cached_property
    def owners(self) -> Int64[np.ndarray, " step"]:
        """The number of each step's series."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.int64), self.sizes)

    @cached_property
    def steps(self) -> Int64[np.ndarray, " step"]:
        """Each step, counted from the first of its series."""
        return np.arange(len(self.owners), dtype=np.int64) - (np.cumsum(self.sizes) - self.sizes)[self.owners]

    def keep(self, chosen: Bool[np.ndarray, " series"]) -> Self:
        """Give the chosen series."""
        if chosen.all():
            return self
        steps = chosen[self.owners]
        ahead = {name: np.repeat(chosen, len(cells) // len(chosen)) for name, cells in self.future.items()}
        return replace(
            self,
            ids=tuple(name for name, kept in zip(self.ids, chosen, strict=True) if kept),
            starts=self.starts.filter(chosen),
            sizes=self.sizes[chosen],
            values=tuple(values[steps] for values in self.values),
            past={name: cells.filter(steps) for name, cells in self.past.items()},
            future={name: cells.filter(ahead[name]) for name, cells in self.future.items()},
            static={name: cells.filter(chosen) for name, cells in self.static.items()},
        )

    def table(self, axis: TimeAxis, contract: DataContract) -> Table:
        """Give the rows that the series stand for; `axis` has their origins, in their order."""
        names, told = pl.Series(self.ids), contract.covariates
        targets = contract.columns.targets
        return Table(
            ids=names.gather(self.owners),
            times=axis.moments_at(self.owners, steps=self.steps),
            id_type=ColumnType(names.dtype),
            time_type=axis.stamp_type.column,
            columns=Columns(time=TIME, target=TARGET if len(targets) == 1 else targets),
            parts={
                **{name: cells for name, cells in self.past.items() if name in (*told.past, *told.future)},
                **{name: cells.gather(self.owners) for name, cells in self.static.items() if name in told.static},
            },
            ignored=(),
            has_ids=True,
        )

    def side(self, stepped: Stepped, contract: DataContract, *, horizon: int) -> SideRows | None:
        """Give the rows of what is known ahead of the series that `stepped` goes on with; None where nothing is."""
        told = {name: cells for name, cells in self.future.items() if name in contract.covariates.future}
        if not told:
            return None
        count = len(self.values)
        firsts = stepped.rows.starts[::count]
        numbers = stepped.rows.series[firsts] // count
        owners = np.repeat(np.arange(len(numbers), dtype=np.int64), horizon)
        within = np.tile(np.arange(horizon, dtype=np.int64), len(numbers))
        moments = stepped.axis.moments_at(owners * count, steps=stepped.lengths[owners * count] + within)
        names = pl.Series(self.ids).gather(numbers)
        table = Table(
            ids=names.gather(owners),
            times=moments,
            id_type=ColumnType(names.dtype),
            time_type=stepped.axis.stamp_type.column,
            columns=Columns(time=TIME),
            parts={name: cells.gather(numbers[owners] * horizon + within) for name, cells in told.items()},
            ignored=(),
            has_ids=True,
        )
        return SideRows(table, owners, tuple(names.to_list()), moments)
