"""Files of one format as one table: its columns and types, and its rows in pieces."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import polars as pl

from forecast.errors import SourceError
from pipelines.sources.base import CHUNK_ROWS
from pipelines.sources.formats import FORMATS, format_of, reading
from pipelines.sources.places import Place
from pipelines.sources.text import Cells, decide, typed


@dataclass(frozen=True, eq=False)
class File:
    """One file, opened but not read, and what the folders on the way to it say of its rows."""

    place: Place
    rows: pl.LazyFrame
    schema: pl.Schema
    """Of the rows in the file; all text where the format is."""

    partition: pl.DataFrame
    """One row: the columns that the file itself lacks."""

    def beside(self) -> list[pl.Expr]:
        """Give the columns that the file itself lacks."""
        return [pl.lit(column[0], dtype=column.dtype).alias(column.name) for column in self.partition.iter_columns()]

    def pieces(self, columns: Sequence[str], *, rows: int) -> Iterator[pl.DataFrame]:
        """Give the rows as the file has them, `rows` at a time, one piece at least."""
        own = [name for name in columns if name in self.schema]
        count = 0
        with reading(self.place.address):
            for piece in self.rows.select(own).collect_batches(chunk_size=rows, maintain_order=True, lazy=True):
                count += 1
                yield piece
        if count == 0:
            yield self.schema.to_frame().select(own)


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of all files, one file after the other."""

    files: Sequence[File]
    schema: pl.Schema
    decided: Mapping[str, Cells] = field(default_factory=dict)
    """What the columns of text files hold."""

    @classmethod
    def open(cls, places: Sequence[Place], *, folder: Path) -> Self:
        """Open files of one format; `folder` takes what has to be unpacked, for as long as the table is read.

        Raises:
            SourceError: a file cannot be read, or the files do not fit together; names the files.
        """
        _check_one_format(places)
        files = _with_partitions([_opened(place, folder) for place in places])
        for file in files[1:]:
            _check_columns(files[0], file)
        if not format_of(places[0].address).is_text:
            return cls(files, _common_schema(files))
        decided: dict[str, Cells] = {}
        for file in files:
            decided = decide(file.pieces([*file.schema], rows=CHUNK_ROWS), decided)
        first = typed(files[0].schema.to_frame(), decided).schema
        return cls(files, pl.Schema({**first, **files[0].partition.schema}), decided)

    def num_rows(self) -> int:
        """Count the rows."""
        total = 0
        for file in self.files:
            with reading(file.place.address):
                total += file.rows.select(pl.len()).collect(engine="streaming").item()
        return total

    def chunks(self, columns: Sequence[str] | None = None, *, rows: int = CHUNK_ROWS) -> Iterator[pl.DataFrame]:
        """Give the rows, with all columns or the chosen ones, at most `rows` at a time."""
        names = [*self.schema] if columns is None else columns
        wanted = pl.Schema({name: self.schema[name] for name in names})
        for file in self.files:
            for piece in file.pieces(names, rows=rows):
                cells = typed(piece, self.decided) if self.decided else piece
                yield cells.with_columns(file.beside()).select(names).cast(wanted)


def _opened(place: Place, folder: Path) -> File:
    known = format_of(place.address)
    if known.local_only and place.is_remote:
        raise SourceError(f"{place.name} is of a format that is read from local files alone; fetch it", field="paths")
    with reading(place.address):
        rows = known.scan(place.address, folder)
        return File(place, rows, rows.collect_schema(), pl.DataFrame())


def _check_one_format(places: Sequence[Place]) -> None:
    for place in places[1:]:
        if format_of(place.address) is not format_of(places[0].address):
            raise SourceError(
                f"{place.name} and {places[0].name} are of different formats; bring the files to one of "
                f"{', '.join(FORMATS)}",
                field="paths",
            )


def _with_partitions(files: Sequence[File]) -> list[File]:
    """Give the files the columns that their folders name, in types that all folders fit; a file's own column wins."""
    texts = pl.DataFrame([file.place.partition for file in files], schema=_partition_schema(files))
    values = typed(texts, decide([texts], {}))
    return [
        replace(file, partition=values[number : number + 1].select(_lacking(file))) for number, file in enumerate(files)
    ]


def _lacking(file: File) -> list[str]:
    return [name for name in file.place.partition if name not in file.schema]


def _partition_schema(files: Sequence[File]) -> dict[str, pl.DataType]:
    return {name: pl.String() for file in files for name in file.place.partition}


def _columns(file: File) -> list[str]:
    return [*file.schema, *file.partition.columns]


def _check_columns(first: File, other: File) -> None:
    names = f"{other.place.name} and {first.place.name}"
    if differing := set(_columns(first)) ^ set(_columns(other)):
        raise SourceError(f"{names} must have the same columns; only one has {sorted(differing)}", field="paths")
    clashing = [name for name in first.schema if name in other.schema and not _agree(name, first, other)]
    if clashing:
        types = {name: f"{first.schema[name]} and {other.schema[name]}" for name in clashing}
        raise SourceError(f"{names} hold other types under one name: {types}; bring them to one type", field="paths")


def _agree(name: str, first: File, other: File) -> bool:
    """Whether rows of both types can stand in one column without being rewritten as text or cut to a coarser unit."""
    one, two = first.schema[name], other.schema[name]
    return one == two or (one.is_numeric() and two.is_numeric()) or pl.Null in (one, two)


def _common_schema(files: Sequence[File]) -> pl.Schema:
    names = _columns(files[0])
    empty = [pl.DataFrame(schema={**file.schema, **file.partition.schema}).select(names) for file in files]
    return pl.concat(empty, how="vertical_relaxed").schema
