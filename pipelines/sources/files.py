"""The user's own files: CSV, Parquet and Arrow, one or many, on this machine or in an object store."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Self

import polars as pl
from pydantic import model_validator

from forecast.config import config
from forecast.errors import SourceError
from pipelines.sources.base import Description, SourceContract
from pipelines.sources.places import Place, places_of, refuse_secrets
from pipelines.sources.secrets import masked
from pipelines.sources.table import Table
from pipelines.sources.wide import Wide


@config
class FilesSource(SourceContract):
    """Rows of one or several files of one format that have the same columns, in the order of the paths.

    Columns keep the names that the files give them. In CSV, stamps stay text, for the data contract to read, and so do
    ids with leading zeros. Folders called `name=value` below a folder or a wildcard give a column `name`, where the
    files themselves have none.
    """

    kind: Literal["files"] = "files"

    paths: str | tuple[str, ...]
    """Paths, folders, glob patterns (`**` goes into folders), or URLs of object stores and web servers.

    The files of one pattern or folder are read in alphabetical order. `$NAME` is replaced, and `~` in paths. Endings:
    .csv, .csv.gz, .csv.zst, .csv.xz, .parquet, .pq, .arrow, .ipc, .feather. Schemes: s3, gs, az, abfss, hf, https and
    what else polars reads; in stores a pattern takes the place of a folder. Credentials stand in the store's own
    settings, or in an environment variable that holds the whole URL; one written here is refused.
    """

    wide: Wide | None = None
    """Given when each series is a column or a row; the result then has the columns `unique_id`, `ds` and `y`."""

    @model_validator(mode="after")
    def _no_secrets(self) -> Self:
        for pattern in self._patterns():
            refuse_secrets(pattern)
        return self

    def read(self) -> pl.DataFrame:
        return pl.concat(self.chunks())

    def chunks(self) -> Iterator[pl.DataFrame]:
        places = self._places()
        with tempfile.TemporaryDirectory(prefix="longcast-") as folder:
            table = Table.open(places, folder=Path(folder))
            yield from table.chunks() if self.wide is None else self.wide.chunks(table)

    def describe(self) -> Description:
        patterns = [masked(pattern) for pattern in self._patterns()]
        name = Path(patterns[0]).name.partition(".")[0] if patterns else "files"
        return Description(name=name, origin=", ".join(patterns), holds="rows of files")

    def _patterns(self) -> tuple[str, ...]:
        return (self.paths,) if isinstance(self.paths, str) else self.paths

    def _places(self) -> list[Place]:
        found = {place.address: place for pattern in self._patterns() for place in places_of(pattern)}
        if not found:
            raise SourceError("no path is given; name at least one file", field="paths")
        return list(found.values())  # two patterns may match one file, whose rows count once
