"""The types of the columns of a text file, decided by all of their cells and without losing what was written."""

import polars as pl

MISSING = ("", "NA", "N/A", "NULL", "null")
BOOLEANS = ("true", "false")
# "007" is a name: as the number 7 it would be another series. "0" and "0.5" are numbers.
LEADING_ZERO = r"^[+-]?0\d"


def typed(cells: pl.DataFrame) -> pl.DataFrame:
    """Give columns of text as whole numbers, else decimal numbers, else booleans, where every cell is one.

    The others stay text. A cell that is empty or says NA is missing in a column of numbers, and itself in a column of
    text. Stamps stay text too: the data contract reads them, from files and from frames alike.
    """
    return cells.select(_typed(column) for column in cells.iter_columns())


def _typed(column: pl.Series) -> pl.Series:
    stripped = column.str.strip_chars()
    present = stripped.replace(dict.fromkeys(MISSING))
    if present.str.contains(LEADING_ZERO).any():
        return column
    for dtype in (pl.Int64, pl.Float64):
        numbers = present.cast(dtype, strict=False)
        if numbers.null_count() == present.null_count():
            return numbers
    lower = present.str.to_lowercase()
    return lower == "true" if lower.is_in(BOOLEANS).all() else column
