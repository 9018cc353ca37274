"""The head of a stored panel: all that is no array, as plain configuration that people can read and check."""

from typing import Literal, Self

import polars as pl

from forecast.config import config
from forecast.errors import SourceError
from forecast.frames.column_type import ColumnType
from forecast.frames.covariates import CovariateSchema
from forecast.frames.text_time import TextFormat
from forecast.frames.time import StampType

FORMAT_VERSION = 1
HEAD_FILE = "panel.json"
NAMES_FILE = "names.json"
"""The ids, and the entities of channels: too many for a file that people read."""


@config
class DtypeText:
    """A polars type that ids and stamps can have."""

    name: str

    time_unit: Literal["ms", "us", "ns"] | None = None

    zone: str | None = None

    levels: tuple[str, ...] | None = None
    """Of an Enum."""

    @classmethod
    def of(cls, dtype: pl.DataType) -> Self:
        """Write a type down."""
        name = dtype.base_type().__name__
        if isinstance(dtype, pl.Datetime):
            return cls(name=name, time_unit=dtype.time_unit, zone=dtype.time_zone)
        return cls(name=name, levels=tuple(dtype.categories) if isinstance(dtype, pl.Enum) else None)

    def build(self) -> ColumnType:
        """Give the type of a column back.

        Raises:
            SourceError: polars has no such type.
        """
        if self.time_unit is not None:
            return ColumnType(pl.Datetime(self.time_unit, self.zone))
        if self.levels is not None:
            return ColumnType(pl.Enum(self.levels))
        kind = getattr(pl, self.name, None)
        if not (isinstance(kind, type) and issubclass(kind, pl.DataType)):
            raise SourceError(f"{self.name!r} is no type of polars; the store was changed by hand, or is damaged")
        return ColumnType(kind())


@config
class StampsText:
    """How the caller writes time: a `StampType` without its pandas type."""

    column: DtypeText

    dtype: DtypeText

    pattern: str | None = None
    """Of stamps that are text."""

    offset: str = ""

    naive: bool = False

    @classmethod
    def of(cls, stamps: StampType) -> Self:
        """Write a type of stamps down."""
        return cls(
            column=DtypeText.of(stamps.column.dtype),
            dtype=DtypeText.of(stamps.dtype),
            pattern=None if stamps.text is None else stamps.text.pattern,
            offset="" if stamps.text is None else stamps.text.offset,
            naive=stamps.naive,
        )

    def build(self) -> StampType:
        """Give the type of stamps back."""
        return StampType(
            column=self.column.build(),
            dtype=self.dtype.build().dtype,
            text=None if self.pattern is None else TextFormat(self.pattern, self.offset),
            naive=self.naive,
        )


@config
class StoredArray:
    """What the file of one array must be."""

    dtype: str

    shape: tuple[int, ...]

    num_bytes: int


@config
class PanelHead:
    """What a stored panel is, beside its arrays and names."""

    format_version: int = FORMAT_VERSION

    digest: str
    """`panel_digest` of the panel."""

    frequency: str

    stamps: StampsText

    id_type: DtypeText | None = None

    channels: tuple[str, ...] | None = None

    covariates: CovariateSchema | None = None

    names_bytes: int
    """Size of the file of names."""

    arrays: dict[str, StoredArray]
    """By name; each is a file of this name that ends in `.npy`."""
