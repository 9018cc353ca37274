"""The rows of a source on disk, in runs that are sorted by series, so that a part of the series is read alone."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
from jaxtyping import Int64

from forecast.errors import DataError, MissingValues
from forecast.frames.columns import Columns
from forecast.frames.ids import read_ids

RUN_ROWS = 500_000
"""Rows of a run, which are held in memory until it is written."""

GROUP_ROWS = 16_384
"""Rows that are read or passed over together: a part of the series reads little beside its own rows."""

RANK = "\0rank"  # no column of a source can be called so

Names = dict[str | int, int]


@dataclass(frozen=True)
class Part:
    """Series that are prepared together: those numbered `first` to `last - 1` of all, by their ids."""

    first: int
    last: int

    def __or__(self, other: "Part") -> "Part":
        """Join it with the part that follows."""
        assert self.last == other.first, "parts are joined with their neighbours"
        return Part(self.first, other.last)


@dataclass(frozen=True, eq=False)
class Spool:
    """Rows on disk. Series are numbered in the order of their sorted ids; the rows of each keep their order."""

    folder: Path
    """Holds the runs; every machine that reads a part must see it."""

    num_rows: Int64[np.ndarray, " series"]
    """Rows of each series."""

    beside: Path | None = field(default=None)
    """The rows of a second table, where there is one."""

    @cached_property
    def runs(self) -> list[Path]:
        """The files of the rows, in the order in which they came."""
        return sorted(self.folder.glob("*.parquet"))

    def parts(self, count: int) -> list[Part]:
        """Cut the series into at most `count` parts of about as many rows, each series whole."""
        ends = np.cumsum(self.num_rows)
        bounds = np.searchsorted(ends, ends[-1] * np.arange(1, count) / count) + 1
        bounds = np.unique([0, *bounds.tolist(), len(ends)]).tolist()
        return [Part(first, last) for first, last in pairwise(bounds)]

    def read(self, part: Part) -> pl.DataFrame:
        """Give the rows of a part, series by their number within each run."""
        return _between(self.runs, part).collect(engine="streaming")

    def read_beside(self, part: Part) -> pl.DataFrame | None:
        """Give the rows of the second table about a part's series, and those about no series in particular."""
        if self.beside is None:
            return None
        return _between([self.beside], part, always=pl.col(RANK).is_null()).collect(engine="streaming")


def fill_spool(
    chunks: Iterable[pl.DataFrame], *, columns: Columns, folder: Path, beside: pl.DataFrame | None = None
) -> Spool:
    """Write the chunks of a source to a folder.

    Which number an id has is known once all have come: where they came unsorted, every run is written once more.

    Raises:
        ColumnMissing: no column, or more than one, can be the id, the time or the target.
        WrongType: the ids are neither text nor integers.
        MissingValues: a row has no id.
        DataError: there are no rows.
    """
    folder.mkdir(parents=True)
    numbers: Names = {}
    counts = np.zeros(0, dtype=np.int64)
    for place, run in enumerate(_runs(_numbered(chunks, columns, numbers))):
        _write_run(run, folder / f"{place:06d}.parquet")
        counts = _added(counts, np.bincount(run[RANK].to_numpy(), minlength=len(numbers)))
    if not counts.sum():
        raise DataError("the frame holds no rows; send at least one for each series to forecast")
    names = sorted(numbers)
    came = np.array([numbers[name] for name in names], dtype=np.int64)
    if (np.diff(came) < 0).any():
        _renumber(folder, np.argsort(came))
        numbers = {name: rank for rank, name in enumerate(names)}
    beside_file = None if beside is None else _write_beside(beside, columns, numbers, folder / "beside")
    return Spool(folder, counts[came], beside_file)


def _numbered(chunks: Iterable[pl.DataFrame], columns: Columns, numbers: Names) -> Iterator[pl.DataFrame]:
    before = 0
    for chunk in chunks:
        name = columns.resolve(chunk.columns).id
        if name not in chunk.columns:
            numbers.setdefault("", 0)
            yield chunk.with_columns(pl.lit(0, dtype=pl.Int64).alias(RANK))
            continue
        if chunk[name].null_count():
            row = int(chunk[name].is_null().arg_max() or 0)
            raise MissingValues(
                f"column {name!r} has rows without an id, the first is row {before + row}; "
                f"give each row the id of its series, or drop these rows",
                field=name,
            )
        yield chunk.with_columns(_ranks(chunk[name], numbers))
        before += chunk.height


def _ranks(ids: pl.Series, numbers: Names) -> pl.Series:
    """Give the number of each row's series; series not met before get the next ones."""
    read = read_ids(ids)
    known = np.array([numbers.setdefault(name, len(numbers)) for name in read.names], dtype=np.int64)
    return pl.Series(RANK, known[read.series] if len(known) else known)


def _runs(chunks: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    held: list[pl.DataFrame] = []
    for chunk in chunks:
        held.append(chunk)
        if sum(frame.height for frame in held) >= RUN_ROWS:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)


def _write_run(run: pl.DataFrame, file: Path) -> None:
    run.sort(RANK, maintain_order=True).write_parquet(file, row_group_size=GROUP_ROWS)


def _renumber(folder: Path, ranks: Int64[np.ndarray, " series"]) -> None:
    """Write each run once more, one in memory at a time, with the rank of each series in place of its number."""
    for file in sorted(folder.glob("*.parquet")):
        run = pl.read_parquet(file, glob=False, hive_partitioning=False)
        written = file.with_suffix(".sorted")  # beside it: what was read may still be mapped from the file
        _write_run(run.with_columns(pl.Series(RANK, ranks[run[RANK].to_numpy()])), written)
        written.replace(file)


def _write_beside(beside: pl.DataFrame, columns: Columns, numbers: Names, folder: Path) -> Path:
    """Write the second table: rows about a series that is not here go to the first part, which reports them."""
    folder.mkdir()
    name = columns.resolve_keys(beside.columns).id
    ranks = pl.Series(RANK, [None], dtype=pl.Int64).new_from_index(0, beside.height)
    if name in beside.columns and not beside[name].null_count():
        read = read_ids(beside[name])
        known = np.array([numbers.get(found, 0) for found in read.names], dtype=np.int64)
        ranks = pl.Series(RANK, known[read.series] if len(known) else known)
    file = folder / "rows.parquet"
    beside.with_columns(ranks).write_parquet(file, row_group_size=GROUP_ROWS)
    return file


def _between(files: list[Path], part: Part, *, always: pl.Expr | None = None) -> pl.LazyFrame:
    chosen = pl.col(RANK).is_between(part.first, part.last, closed="left")
    rows = pl.scan_parquet(files, glob=False, hive_partitioning=False)
    return rows.filter(chosen if always is None else chosen | always).drop(RANK)


def _added(one: Int64[np.ndarray, " few"], other: Int64[np.ndarray, " more"]) -> Int64[np.ndarray, " more"]:
    return np.pad(one, (0, len(other) - len(one))) + other
