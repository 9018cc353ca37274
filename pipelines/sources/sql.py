"""Rows of a database: a table or a query, read in pieces through the database's own driver."""

import os
from collections.abc import Iterator
from typing import Literal, Self

import polars as pl
from pydantic import model_validator

from forecast.config import config
from forecast.errors import SourceError
from pipelines.sources.adbc import SQLITE, query_frames
from pipelines.sources.base import Description, SourceContract
from pipelines.sources.secrets import checked_database, masked, secrets_of

SCHEMES = ("postgresql://", "postgres://", SQLITE)


@config
class SqlSource(SourceContract):
    """Rows of a PostgreSQL or SQLite database, which is only read, never written to.

    All rows come from one query and so from one moment of the database.
    """

    kind: Literal["sql"] = "sql"

    uri: str | None = None
    """`postgresql://user@host:port/database` or `sqlite:///file.db`. A password in it is refused, since the address is
    kept with every run; PostgreSQL finds one in `PGPASSWORD` or `~/.pgpass`."""

    uri_env: str | None = None
    """Name of the environment variable that holds the address; that one may have a password in it."""

    table: str | None = None
    """Name of the table, also `schema.table`; or else give `query`."""

    order_by: tuple[str, ...] = ()
    """Columns that order the rows of the table: best the id and the time.

    Without it a database may give the rows, and so the series, in another order every time.
    """

    query: str | None = None
    """A SELECT; give it an ORDER BY of its own."""

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if (self.uri is None) == (self.uri_env is None):
            raise ValueError("give one of 'uri' and 'uri_env'")
        if (self.table is None) == (self.query is None):
            raise ValueError("give one of 'table' and 'query'")
        if self.query is not None and self.order_by:
            raise ValueError("'order_by' orders a table; write ORDER BY into the query")
        if self.uri is not None and secrets_of(_checked(self.uri)):
            raise ValueError(
                f"the address {masked(self.uri)!r} has a password in it, which would be kept with every run; put the "
                f"address into an environment variable and name it: uri_env"
            )
        return self

    def read(self) -> pl.DataFrame:
        return pl.concat(self.chunks())

    def chunks(self) -> Iterator[pl.DataFrame]:
        yield from query_frames(self._uri(), self._query())

    def describe(self) -> Description:
        place = f"${self.uri_env}" if self.uri is None else masked(self.uri)
        what = f"table {self.table}" if self.query is None else f"query {self.query}"
        return Description(name=self.table or "query", origin=f"{place}, {what}", holds="rows of a database")

    def _uri(self) -> str:
        if self.uri_env is None:
            return _checked(str(self.uri))
        uri = os.environ.get(self.uri_env)
        if not uri:
            raise SourceError(
                f"the environment variable {self.uri_env!r} is not set; let it hold the address of the database, "
                f"for example postgresql://user:password@host:5432/database",
                field="uri_env",
            )
        try:
            return _checked(uri)
        except ValueError as refusal:
            raise SourceError(f"{self.uri_env}: {refusal}", field="uri_env") from None

    def _query(self) -> str:
        if self.query is not None:
            return self.query
        order = f" ORDER BY {', '.join(map(_quoted, self.order_by))}" if self.order_by else ""
        return f"SELECT * FROM {'.'.join(map(_quoted, str(self.table).split('.')))}{order}"


def _checked(uri: str) -> str:
    if not uri.startswith(SCHEMES):
        raise ValueError(f"the address of a database begins with one of {', '.join(SCHEMES)}")
    return uri if uri.startswith(SQLITE) else checked_database(uri)


def _quoted(name: str) -> str:
    """Quote a name, so that one that is a word of the language, or has capitals, is found too."""
    return '"' + name.replace('"', '""') + '"'
