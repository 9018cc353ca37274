"""The user's own files: CSV, Parquet and Arrow, one or many."""

import os
from collections.abc import Mapping
from glob import glob
from pathlib import Path
from typing import Literal

import polars as pl

from forecast.config import config
from forecast.errors import SourceError
from pipelines.sources.base import Description, SourceContract
from pipelines.sources.formats import READERS, read_file, read_text, reader_of
from pipelines.sources.text import typed
from pipelines.sources.wide import melt


@config
class Wide:
    """The files hold one series a column, each row one time step."""

    time: str
    """Name of the column of stamps; every other column is a series named by its header."""


@config
class FilesSource(SourceContract):
    """Rows of one or several files of one format that have the same columns, in the order of the paths.

    Columns keep the names that the files give them. In CSV, stamps stay text, for the data contract to read, and so do
    ids with leading zeros.
    """

    kind: Literal["files"] = "files"

    paths: str | tuple[str, ...]
    """Paths or glob patterns (`**` goes into folders); the files of one pattern are read in alphabetical order.

    `~` and `$NAME` are replaced. Endings: .csv, .csv.gz, .csv.zst, .parquet, .pq, .arrow, .ipc, .feather.
    """

    wide: Wide | None = None
    """Given when each series is a column; the result then has the columns `unique_id`, `ds` and `y`."""

    def read(self) -> pl.DataFrame:
        paths = self._files()
        _check_one_format(paths)
        rows = _joined({path: read_file(path) for path in paths})
        if reader_of(paths[0]) is read_text:  # only now, because a column's type is decided by all of its cells
            rows = typed(rows)
        return rows if self.wide is None else _melted(rows, self.wide)

    def describe(self) -> Description:
        patterns = self._patterns()
        name = Path(patterns[0]).name.partition(".")[0] if patterns else "files"
        return Description(name=name, origin=", ".join(patterns), holds="rows of files")

    def _patterns(self) -> tuple[str, ...]:
        return (self.paths,) if isinstance(self.paths, str) else self.paths

    def _files(self) -> list[Path]:
        found = [path for pattern in self._patterns() for path in _matches(pattern)]
        if not found:
            raise SourceError("no path is given; name at least one file", field="paths")
        return list(dict.fromkeys(found))  # two patterns may match one file, whose rows count once


def _matches(pattern: str) -> list[Path]:
    expanded = Path(os.path.expandvars(pattern)).expanduser()
    if expanded.is_dir():
        raise SourceError(f"{expanded} is a folder; name its files, for example {expanded / '*.csv'}", field="paths")
    if expanded.is_file():  # first, because a name may hold brackets
        return [expanded]
    matches = glob(str(expanded), recursive=True)  # noqa: PTH207 - Path.glob takes no absolute pattern
    found = [path for path in map(Path, sorted(matches)) if path.is_file()]
    if not found:
        raise SourceError(
            f"no file is at {str(expanded)!r}, seen from the folder {str(Path.cwd())!r}; correct the path or pattern",
            field="paths",
        )
    return found


def _check_one_format(paths: list[Path]) -> None:
    for path in paths[1:]:
        if reader_of(path) is not reader_of(paths[0]):
            raise SourceError(
                f"{path} and {paths[0]} are of different formats; bring the files to one of {', '.join(READERS)}",
                field="paths",
            )


def _joined(frames: Mapping[Path, pl.DataFrame]) -> pl.DataFrame:
    (first_path, first), *others = frames.items()
    for path, frame in others:
        if differing := set(first.columns) ^ set(frame.columns):
            raise SourceError(
                f"{path} and {first_path} must have the same columns; only one has {sorted(differing)}", field="paths"
            )
        if clashing := [name for name in first.columns if not _agree(first.schema[name], frame.schema[name])]:
            types = {name: f"{first.schema[name]} and {frame.schema[name]}" for name in clashing}
            raise SourceError(
                f"{first_path} and {path} hold other types under one name: {types}; bring them to one type",
                field="paths",
            )
    return pl.concat([frame.select(first.columns) for frame in frames.values()], how="vertical_relaxed")


def _agree(one: pl.DataType, other: pl.DataType) -> bool:
    """Whether rows of both types can stand in one column without being rewritten as text or cut to a coarser unit."""
    return one == other or (one.is_numeric() and other.is_numeric()) or pl.Null in (one, other)


def _melted(rows: pl.DataFrame, wide: Wide) -> pl.DataFrame:
    if wide.time not in rows.columns:
        raise SourceError(f"no column is called {wide.time!r}; the files have {rows.columns}", field="wide.time")
    series = [name for name in rows.columns if name != wide.time]
    if text := [name for name in series if not (rows.schema[name].is_numeric() or rows.schema[name] == pl.Null)]:
        raise SourceError(
            f"columns {text} hold no numbers, so they are no series; leave them out of the files, or read a long frame "
            f"without `wide`",
            field="wide",
        )
    return melt(rows, time=wide.time, series=series)
