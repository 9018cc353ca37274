"""The ledger of one reading: what was found in each series, which series are at fault, and which were dropped."""

from collections.abc import Iterable

import numpy as np
import polars as pl
from jaxtyping import Bool

from forecast.errors import DataError
from forecast.frames.columns import Columns
from forecast.frames.report import Finding, FindingKind
from forecast.frames.rows import Group, Rows

NAMED = 5
"""Further series that an error names."""


class Ledger:
    """Written by the checks, read once at the end. A series keeps the first fault that was found in it."""

    def __init__(self, names: tuple[str | int, ...], stamps: pl.Series, columns: Columns):
        self.names = names
        self.columns = columns
        self.findings: list[Finding] = []
        self.faults: dict[int, DataError] = {}
        self.dropped: dict[int, DataError] = {}
        self._stamps = stamps

    def groups(self, rows: Rows, chosen: Bool[np.ndarray, " row"]) -> list[Group]:
        """Group the chosen rows by series."""
        return rows.groups(chosen, stamps=self._stamps)

    def refuse(self, groups: Iterable[Group], error: type[DataError], *, column: str, what: str, fix: str) -> None:
        """Put series at fault: the error names the series, the column, the count, the first stamp and the fix."""
        for group in groups:
            self.faults.setdefault(group.series, self._error(group, error, column=column, what=what, fix=fix))

    def drop(self, groups: Iterable[Group], error: type[DataError], *, column: str, what: str, fix: str) -> None:
        """Leave series out by a policy of the caller's; the error says why."""
        for group in groups:
            self.dropped.setdefault(group.series, self._error(group, error, column=column, what=what, fix=fix))

    def note(self, groups: Iterable[Group], kind: FindingKind, *, column: str, what: str, action: str) -> None:
        """Report what was found in series that go on, or that a policy drops."""
        for group in groups:
            self.findings.append(
                Finding(
                    kind,
                    _place(group, column=column, what=what),
                    action,
                    count=group.count,
                    series=self.names[group.series],
                    column=column,
                    first_stamp=group.first_stamp,
                )
            )

    def going_on(self, rows: Rows) -> Rows:
        """Give the rows of the series that are neither at fault nor dropped.

        Raises:
            DataError: none is left; the fault of the first series says why.
        """
        out = [*self.dropped.keys() | self.faults.keys()]
        if len(out) == len(self.names):
            raise self.first_fault()
        return rows.keep(~np.isin(rows.series, out)) if out else rows

    def first_fault(self) -> DataError:
        """Give the error of the first series at fault (or else dropped), and how many more there are."""
        out = self.faults or self.dropped
        first, *others = sorted(out)
        error = out[first]
        if not others:
            return error
        named = ", ".join(repr(self.names[number]) for number in others[:NAMED])
        more = f"{len(others):,} more series are out: {named}{', ...' if len(others) > NAMED else ''}"
        return type(error)(f"{error}\n{more}", series=error.series, field=error.field)

    def left_out(self) -> dict[str | int, DataError]:
        """Give the series that are out, by id, each with its error."""
        out = {**self.dropped, **self.faults}
        return {self.names[number]: out[number] for number in sorted(out)}

    def _error(self, group: Group, error: type[DataError], *, column: str, what: str, fix: str) -> DataError:
        name = self.names[group.series]
        message = f"series {name!r}: {_place(group, column=column, what=what)}; {fix}"
        return error(message, series=str(name), field=column)


def _place(group: Group, *, column: str, what: str) -> str:
    return f"column {column!r} has {group.count:,} {what}, the first at {group.first_stamp}"
