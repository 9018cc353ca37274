"""The types of the columns of text files, decided by all of their cells and without losing what was written."""

from collections import defaultdict
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

    @property
    def is_text(self) -> bool:
        """Tell whether it can be nothing but text."""
        return not (self.whole or self.decimal or self.boolean)

    def also(self, other: Self) -> Self:
        """Give what a column of the cells of both can be."""
        return type(self)(
            whole=self.whole and other.whole,
            decimal=self.decimal and other.decimal,
            boolean=self.boolean and other.boolean,
        )

    def typed(self, columns: pl.Expr) -> pl.Expr:
        """Give columns of text in the type that all of their cells fit."""
        if self.whole or self.decimal:
            return _present(columns).cast(pl.Int64 if self.whole else pl.Float64)
        return _present(columns).str.to_lowercase() == "true" if self.boolean else columns


def decide(pieces: Iterable[pl.DataFrame], known: Mapping[str, Cells]) -> dict[str, Cells]:
    """Decide what each column holds: whole numbers, else decimal numbers, else booleans, where every cell is one.

    The others stay text. A cell that is empty or says NA is missing in a column of numbers, and itself in a column of
    text. Stamps stay text too: the data contract reads them, from files and from frames alike. `known` is what earlier
    cells have decided.
    """
    decided = dict(known)
    for piece in pieces:
        undecided = [name for name in piece.columns if not decided.get(name, Cells()).is_text]
        for name, cells in _seen(piece.select(undecided)).items():
            decided[name] = decided.get(name, Cells()).also(cells)
    return decided


def typed(cells: pl.DataFrame, decided: Mapping[str, Cells]) -> pl.DataFrame:
    """Give a piece of a text file in the types decided."""
    alike: dict[Cells, list[str]] = defaultdict(list)
    for name in cells.columns:
        alike[decided[name]].append(name)
    return cells.with_columns(known.typed(pl.col(names)) for known, names in alike.items())


def _seen(piece: pl.DataFrame) -> dict[str, Cells]:
    """Give what each column can be by the cells of a piece; all columns at once, since a wide table has thousands."""
    if not piece.columns:
        return {}
    present = piece.select(_present(pl.all()))
    missing = present.null_count().row(0)
    padded = present.select(pl.all().str.contains(LEADING_ZERO).any()).row(0)
    whole, decimal = (
        present.select(pl.all().cast(dtype, strict=False).null_count()).row(0) for dtype in (pl.Int64, pl.Float64)
    )
    boolean = present.select(pl.all().str.to_lowercase().is_in(BOOLEANS).all()).row(0)
    return {
        name: Cells(
            whole=whole[place] == missing[place] and not padded[place],
            decimal=decimal[place] == missing[place] and not padded[place],
            boolean=boolean[place] and not padded[place],
        )
        for place, name in enumerate(piece.columns)
    }


def _present(columns: pl.Expr) -> pl.Expr:
    return columns.str.strip_chars().replace(dict.fromkeys(MISSING))
