"""The type a caller gave a column, remembered so that answers come back in it."""

from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

Kind = Literal["pandas", "polars", "pyarrow"]
"""The library a frame belongs to."""


@dataclass(frozen=True)
class ColumnType:
    """A column's polars type and, where the frame was pandas' or pyarrow's, its type there."""

    dtype: pl.DataType
    pandas: Any = None
    arrow: Any = None

    def restore(self, values: pl.Series, *, like: Kind) -> Any:
        """Give the values as a column of the library asked for, in the caller's type."""
        if like != "pandas":
            return values.cast(self.dtype)
        if self.pandas is None:
            return values.cast(self.dtype).to_pandas()
        if self.pandas == "object":
            import pandas

            return pandas.Series(values.to_list(), name=values.name, dtype=object)
        arrow = type(self.pandas).__name__ == "ArrowDtype"
        return values.to_pandas(use_pyarrow_extension_array=arrow).astype(self.pandas)

    def restore_arrow(self, values: Any) -> Any:
        """Give a column of pyarrow with the caller's zone, which may be an offset that polars has no name for."""
        zone = getattr(self.arrow, "tz", None)
        if zone is None or getattr(values.type, "tz", None) in (None, zone):
            return values
        import pyarrow

        return values.cast(pyarrow.timestamp(values.type.unit, tz=zone))
