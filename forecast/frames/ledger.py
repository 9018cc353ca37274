"""The ledger of one reading: what was found in each series, which series are at fault, and which were dropped."""

from collections.abc import Iterable

import numpy as np
import polars as pl
from jaxtyping import Bool

from forecast.errors import DataError
from forecast.frames.columns import Columns
from forecast.frames.report import Finding, FindingKind
from forecast.frames.rows import Group, Rows


class Ledger:
    """Written by the checks, read once at the end. A series keeps the first fault that was found in it."""

    def __init__(self, names: tuple[str | int, ...], stamps: pl.Series, columns: Columns):
        self.names = names
        self.columns = columns
        self.findings: list[Finding] = []
        self.faults: dict[int, DataError] = {}
        self.dropped: set[int] = set()
        self._stamps = stamps

    def groups(self, rows: Rows, chosen: Bool[np.ndarray, " row"]) -> list[Group]:
        """Group the chosen rows by series."""
        return list(rows.groups(chosen, stamps=self._stamps))

    def refuse(self, groups: Iterable[Group], error: type[DataError], *, column: str, what: str, fix: str) -> None:
        """Put series at fault: the error names the series, the column, the count, the first stamp and the fix."""
        for group in groups:
            message = f"{_sentence(self.names[group.series], group, column=column, what=what)}; {fix}"
            fault = error(message, series=str(self.names[group.series]), field=column)
            self.faults.setdefault(group.series, fault)

    def note(self, groups: Iterable[Group], kind: FindingKind, *, column: str, what: str, action: str) -> None:
        """Report what was found in series that go on, or that a policy drops."""
        for group in groups:
            place = f"column {column!r} has {group.count:,} {what}, the first at {group.first_stamp}"
            self.findings.append(
                Finding(
                    kind,
                    place,
                    action,
                    count=group.count,
                    series=self.names[group.series],
                    column=column,
                    first_stamp=group.first_stamp,
                )
            )

    def going_on(self, rows: Rows) -> Rows:
        """Give the rows of the series that are neither at fault nor dropped."""
        out = np.array(sorted({*self.faults, *self.dropped}), dtype=np.int64)
        return rows.keep(~np.isin(rows.series, out))


def _sentence(name: str | int, group: Group, *, column: str, what: str) -> str:
    return f"series {name!r}: column {column!r} has {group.count:,} {what}, the first at {group.first_stamp}"
