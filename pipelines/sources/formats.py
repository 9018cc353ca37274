"""The file formats that rows are read from, told apart by the ending of the name; a new one is a line in `READERS`."""

from collections.abc import Callable
from pathlib import Path

import polars as pl

from forecast.errors import SourceError

ARROW_FILE_MAGIC = b"ARROW1"  # the file format begins with it; the stream format, under the same endings, does not


def read_text(path: Path) -> pl.DataFrame:
    """Give every cell of a CSV as it is written, an empty one as missing; a byte order mark is no part of a name."""
    return pl.read_csv(path, infer_schema=False, glob=False)


def read_parquet(path: Path) -> pl.DataFrame:
    """Give the rows of a Parquet file."""
    return pl.read_parquet(path, glob=False)


def read_arrow(path: Path) -> pl.DataFrame:
    """Give the rows of an Arrow file or stream."""
    content = path.read_bytes()
    return pl.read_ipc(content) if content.startswith(ARROW_FILE_MAGIC) else pl.read_ipc_stream(content)


Reader = Callable[[Path], pl.DataFrame]
READERS: dict[str, Reader] = {
    ".csv": read_text,
    ".csv.gz": read_text,
    ".csv.zst": read_text,
    ".parquet": read_parquet,
    ".pq": read_parquet,
    ".arrow": read_arrow,
    ".ipc": read_arrow,
    ".feather": read_arrow,
}


def reader_of(path: Path) -> Reader:
    """Give what reads the file at `path`.

    Raises:
        SourceError: its name has no known ending.
    """
    for ending, reader in READERS.items():
        if path.name.lower().endswith(ending):
            return reader
    raise SourceError(f"{path} has no known ending; known are {', '.join(READERS)}", field="paths")


def read_file(path: Path) -> pl.DataFrame:
    """Give the rows of one file; the cells of a text file are text still.

    Raises:
        SourceError: the file's ending is unknown, or its content is not what the ending says.
    """
    reader = reader_of(path)
    try:
        return reader(path)
    except (pl.exceptions.PolarsError, OSError) as failure:
        reason = str(failure).partition("\n")[0]
        raise SourceError(
            f"{path} cannot be read as its ending says: {reason}; check that it is whole and, if it is text, in UTF-8",
            field="paths",
        ) from failure
