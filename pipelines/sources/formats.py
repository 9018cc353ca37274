"""The file formats that rows are read from, told apart by the ending of the name; a new one is a line in `FORMATS`."""

import lzma
import shutil
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from forecast.errors import SourceError
from pipelines.sources.secrets import masked

ARROW_FILE_MAGIC = b"ARROW1"  # the file format begins with it; the stream format, under the same endings, does not

Scan = Callable[[str, Path], pl.LazyFrame]
"""From the address of a file, and a folder for what it needs meanwhile, to its rows, not yet read."""


@dataclass(frozen=True)
class Format:
    """How files of one ending are read."""

    scan: Scan

    scan_many: Callable[[str, str], pl.LazyFrame]
    """From a pattern in an object store, and a name, to rows with a column of that name for the file's address."""

    is_text: bool = False
    """True where the cells are text, whose types all cells together decide."""

    local_only: bool = False
    """True where polars does not read the format from a store."""


def scan_text(address: str, _: Path) -> pl.LazyFrame:
    """Give every cell of a CSV as it is written, an empty one as missing; a byte order mark is no part of a name."""
    return pl.scan_csv(address, infer_schema=False, glob=False)


def scan_xz(address: str, folder: Path) -> pl.LazyFrame:
    """Unpack a CSV, which polars does not do for this kind, into the folder first."""
    plain = folder / f"{len(list(folder.iterdir()))}.csv"
    with lzma.open(address) as packed, plain.open("wb") as unpacked:
        shutil.copyfileobj(packed, unpacked)
    return scan_text(str(plain), folder)


def scan_parquet(address: str, _: Path) -> pl.LazyFrame:
    """Give the rows of a Parquet file."""
    return pl.scan_parquet(address, glob=False, hive_partitioning=False)


def scan_arrow(address: str, _: Path) -> pl.LazyFrame:
    """Give the rows of an Arrow file, or of a local Arrow stream, which is read whole."""
    local = Path(address)
    if local.is_file() and not _is_arrow_file(local):
        return pl.read_ipc_stream(local).lazy()
    return pl.scan_ipc(address, glob=False, hive_partitioning=False)


def _many_texts(pattern: str, name: str) -> pl.LazyFrame:
    return pl.scan_csv(pattern, infer_schema=False, include_file_paths=name)


def _many_parquets(pattern: str, name: str) -> pl.LazyFrame:
    return pl.scan_parquet(pattern, hive_partitioning=False, include_file_paths=name, extra_columns="ignore")


def _many_arrows(pattern: str, name: str) -> pl.LazyFrame:
    return pl.scan_ipc(pattern, hive_partitioning=False, include_file_paths=name)


TEXT = Format(scan_text, _many_texts, is_text=True)
XZ = Format(scan_xz, _many_texts, is_text=True, local_only=True)
PARQUET = Format(scan_parquet, _many_parquets)
ARROW = Format(scan_arrow, _many_arrows)

FORMATS: dict[str, Format] = {
    ".csv": TEXT,
    ".csv.gz": TEXT,
    ".csv.zst": TEXT,
    ".csv.xz": XZ,
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": ARROW,
    ".ipc": ARROW,
    ".feather": ARROW,
}


def format_of(address: str) -> Format:
    """Give how the file at a path or URL is read.

    Raises:
        SourceError: its name has no known ending.
    """
    name = address.partition("?")[0] if "://" in address else address
    for ending, known in FORMATS.items():
        if name.lower().endswith(ending):
            return known
    raise SourceError(f"{masked(address)} has no known ending; known are {', '.join(FORMATS)}", field="paths")


@contextmanager
def reading(address: str) -> Generator[None]:
    """Say of what goes wrong while a file is read, which file it was, without a secret of its address.

    Raises:
        SourceError: the file is not there, or its content is not what the ending says.
    """
    try:
        yield
    except (pl.exceptions.PolarsError, OSError, EOFError, lzma.LZMAError, zlib.error) as failure:
        reason = masked(str(failure).partition("\n")[0], url=address)
        raise SourceError(
            f"{masked(address)} cannot be read as its ending says: {reason}; check that it is whole and, if it is "
            f"text, in UTF-8",
            field="paths",
        ) from None


def _is_arrow_file(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(ARROW_FILE_MAGIC)) == ARROW_FILE_MAGIC
