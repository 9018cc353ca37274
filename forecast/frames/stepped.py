"""Rows on the time axis of their series: each row has its step, each series its origin."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from jaxtyping import Int64

from forecast.errors import GapFound
from forecast.frames.column_type import ColumnType
from forecast.frames.frequency import Frequency
from forecast.frames.grid import lay_out
from forecast.frames.ledger import Ledger
from forecast.frames.panel import Panel
from forecast.frames.rows import Rows
from forecast.frames.time import StampType, TimeAxis

SPARSEST = 1_000
"""Steps a row that a series may span: one wrong stamp must not claim all memory."""

ALWAYS_ALLOWED = 100_000
"""Steps that a series of any number of rows may span."""


@dataclass(frozen=True, eq=False)
class Stepped:
    """Rows, each with its step counted from the first of its series."""

    rows: Rows
    steps: Int64[np.ndarray, " row"]
    axis: TimeAxis
    """Of the series that have rows, in the order of their numbers."""

    @classmethod
    def lay_out(cls, rows: Rows, *, frequency: Frequency, stamp_type: StampType) -> Self:
        """Put rows that are all on the steps of the frequency on the axes of their series."""
        grid = lay_out(rows, frequency.calendar)
        return cls(rows, grid.steps, TimeAxis(frequency, stamp_type, grid.origins))

    @cached_property
    def lengths(self) -> Int64[np.ndarray, " series"]:
        """Steps that each series spans."""
        return self.steps[self.rows.lasts] + 1

    def with_rows(self, rows: Rows) -> Self:
        """Give other rows of the same frame on axes of their own."""
        if rows is self.rows:
            return self
        return self.lay_out(rows, frequency=self.axis.frequency, stamp_type=self.axis.stamp_type)

    def going_on(self, ledger: Ledger) -> Self:
        """Give the rows of the series that are still in.

        Raises:
            DataError: none is left.
        """
        return self.with_rows(ledger.going_on(self.rows))

    def refuse_sparse(self, ledger: Ledger) -> Self:
        """Put series at fault that are almost nothing but gap, and go on without them."""
        rows = self.rows
        num_rows = rows.lasts - rows.starts + 1
        sparse = (self.lengths > ALWAYS_ALLOWED) & (self.lengths > SPARSEST * num_rows)
        what = f"rows on more than {SPARSEST:,} times as many steps of {self.axis.frequency.text!r}"
        fix = "look for a wrong stamp at either end, or give a coarser frequency"
        groups = ledger.groups(rows, sparse[rows.group])
        ledger.refuse(groups, GapFound, column=ledger.columns.time, what=what, fix=fix)
        return self.going_on(ledger)

    def panel(self, names: tuple[str | int, ...], *, id_type: ColumnType) -> Panel:
        """Give the panel of the rows; `names` are the ids of all series by number."""
        offsets = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)
        places = offsets[self.rows.group] + self.steps
        known = ~np.isnan(self.rows.values)
        values = np.zeros(offsets[-1])
        values[places[known]] = self.rows.values[known]
        observed = np.zeros(offsets[-1], dtype=bool)
        observed[places] = known
        ids = tuple(names[number] for number in self.rows.series[self.rows.starts].tolist())
        return Panel(ids=ids, values=values, observed=observed, offsets=offsets, axis=self.axis, id_type=id_type)
