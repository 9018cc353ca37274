"""The types of the columns of text files, decided by all of their cells and without losing what was written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import polars as pl

MISSING = ("", "NA", "N/A", "NULL", "null")
BOOLEANS = ("true", "false")
# "007" is a name: as the number 7 it would be another series. "0" and "0.5" are numbers.
LEADING_ZERO = r"^[+-]?0\d"


@dataclass(frozen=True)
class Cells:
    """What a column can be, so far."""

    whole: bool = True
    decimal: bool = True
    boolean: bool = True

    def seen(self, column: pl.Series) -> Self:
        """Give what the column can be after these further cells."""
        if not (self.whole or self.decimal or self.boolean):
            return self
        present = _present(column)
        if present.str.contains(LEADING_ZERO).any():
            return type(self)(whole=False, decimal=False, boolean=False)
        return type(self)(
            whole=self.whole and _fits(present, pl.Int64()),
            decimal=self.decimal and _fits(present, pl.Float64()),
            boolean=self.boolean and present.str.to_lowercase().is_in(BOOLEANS).all(),
        )

    def typed(self, column: pl.Series) -> pl.Series:
        """Give a column of text in the type that all of its cells fit."""
        if self.whole or self.decimal:
            return _present(column).cast(pl.Int64 if self.whole else pl.Float64)
        return _present(column).str.to_lowercase() == "true" if self.boolean else column


def decide(pieces: Iterable[pl.DataFrame], known: Mapping[str, Cells]) -> dict[str, Cells]:
    """Decide what each column holds: whole numbers, else decimal numbers, else booleans, where every cell is one.

    The others stay text. A cell that is empty or says NA is missing in a column of numbers, and itself in a column of
    text. Stamps stay text too: the data contract reads them, from files and from frames alike. `known` is what earlier
    cells have decided.
    """
    decided = dict(known)
    for piece in pieces:
        for column in piece.iter_columns():
            decided[column.name] = decided.get(column.name, Cells()).seen(column)
    return decided


def typed(cells: pl.DataFrame, decided: Mapping[str, Cells]) -> pl.DataFrame:
    """Give a piece of a text file in the types decided."""
    return cells.select(decided[column.name].typed(column) for column in cells.iter_columns())


def _present(column: pl.Series) -> pl.Series:
    return column.str.strip_chars().replace(dict.fromkeys(MISSING))


def _fits(present: pl.Series, dtype: pl.DataType) -> bool:
    return present.cast(dtype, strict=False).null_count() == present.null_count()
