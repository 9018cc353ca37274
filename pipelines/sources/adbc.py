"""Record batches of a query, streamed by the ADBC driver of the database; the only file that knows the drivers."""

import contextlib
from collections.abc import Generator, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pyarrow as pa

from forecast.errors import BackendUnavailable, SourceError
from pipelines.sources.secrets import masked

SQLITE = "sqlite:///"
"""How the address of an SQLite file begins; the path follows, relative or absolute."""

SQLITE_BATCH_ROWS = "65536"
"""Rows that decide the type of an SQLite column, which has none of its own, and that come at once."""

UUID_TEXT = (r"^(.{8})(.{4})(.{4})(.{4})(.{12})$", "$1-$2-$3-$4-$5")

READ_ONLY = "SET TRANSACTION READ ONLY"


def query_frames(uri: str, query: str) -> Iterator[pl.DataFrame]:
    """Give the rows of a query, some megabytes at a time, one piece at least; nothing in the database is changed.

    `numeric` of PostgreSQL is read as Float64.

    Raises:
        SourceError: the database cannot be reached, or refuses the query; no password is in the message.
        BackendUnavailable: the driver is not installed.
    """
    cursor_of = _sqlite if uri.startswith(SQLITE) else _postgres
    with _explained(uri), cursor_of(uri) as cursor:
        cursor.execute(query)
        with cursor.fetch_record_batch() as reader:
            yield _frame(reader.schema.empty_table())
            for batch in reader:
                yield _frame(pa.Table.from_batches([batch]))


@contextlib.contextmanager
def _postgres(uri: str) -> Generator[Any]:
    driver = _driver("adbc_driver_postgresql")
    with driver.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute(READ_ONLY)
        yield cursor


@contextlib.contextmanager
def _sqlite(uri: str) -> Generator[Any]:
    driver = _driver("adbc_driver_sqlite")
    file = Path(uri.removeprefix(SQLITE)).absolute()
    if not file.is_file():
        raise SourceError(f"there is no file {str(file)!r}; correct the path in {uri!r}", field="uri")
    settings = {"adbc.sqlite.query.batch_rows": SQLITE_BATCH_ROWS}
    with (
        driver.connect(f"{file.as_uri()}?mode=ro") as connection,
        connection.cursor(adbc_stmt_kwargs=settings) as cursor,
    ):
        yield cursor


def _driver(name: str) -> ModuleType:
    try:
        return import_module(f"{name}.dbapi")
    except ImportError:
        raise BackendUnavailable(
            f"reading from this database needs the package {name.replace('_', '-')}; type: pip install 'longcast[sql]'"
        ) from None


@contextlib.contextmanager
def _explained(uri: str) -> Generator[None]:
    """Say what the database said, without a secret of its address."""
    driver_error: type[Exception] = _driver("adbc_driver_manager").Error
    try:
        yield
    except (driver_error, OSError, pa.ArrowException, pl.exceptions.PolarsError) as failure:
        reason = " ".join(masked(str(failure), url=uri).split())
        raise SourceError(
            f"{masked(uri)} gave no rows: {reason}; correct the address or the query, and cast columns that it names",
            field="query",
        ) from None


def _frame(table: pa.Table) -> pl.DataFrame:
    """Give Arrow rows as polars, the kinds that polars does not know as what they mean."""
    if spans := [column.name for column in table.schema if pa.types.is_interval(column.type)]:
        raise pa.ArrowTypeError(f"columns {spans} hold spans of time, which no frame holds")
    columns = [_plain(column, kind) for column, kind in zip(table.columns, table.schema.types, strict=True)]
    return pl.DataFrame(pl.from_arrow(pa.table(columns, names=table.column_names)))


def _plain(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | pa.Array:
    if not isinstance(kind, pa.BaseExtensionType):
        return column
    stored = pl.Series(pl.from_arrow(pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type)))
    if isinstance(kind, pa.UuidType):
        return stored.bin.encode("hex").str.replace(*UUID_TEXT).to_arrow()
    is_number = isinstance(kind, pa.OpaqueType) and kind.type_name == "numeric"
    return (stored.cast(pl.Float64) if is_number else stored).to_arrow()
