"""Tables and queries of a real PostgreSQL and of SQLite: types, order, pieces, and passwords that nobody sees."""

import datetime
import sqlite3
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest

from forecast.config import build_config, config, to_plain
from forecast.errors import BackendUnavailable, ConfigError, SourceError
from pipelines.sources import Source, SqlSource

PASSWORD = "s3cr3t w@rd/with?#%"
ROWS = [("a", 1, 1.5), ("a", 2, None), ("b", 1, -3.25)]


@config
class Run:
    source: Source


@pytest.fixture
def sqlite_uri(tmp_path: Path) -> str:
    with sqlite3.connect(tmp_path / "rows.db") as connection:
        connection.execute("CREATE TABLE history (unique_id TEXT, ds INTEGER, y REAL)")
        connection.executemany("INSERT INTO history VALUES (?, ?, ?)", ROWS)
    connection.close()
    return f"sqlite:///{tmp_path / 'rows.db'}"


@pytest.fixture
def history(execute) -> str:
    execute("DROP TABLE IF EXISTS history")
    execute("CREATE TABLE history (unique_id text, ds bigint, y double precision)")
    execute("INSERT INTO history VALUES ('b', 1, -3.25), ('a', 2, NULL), ('a', 1, 1.5)")
    return "history"


def test_a_table_is_read_in_the_order_asked_for(postgres_uri, history):
    frame = SqlSource(uri=postgres_uri, table=history, order_by=("unique_id", "ds")).read()
    assert frame.schema == {"unique_id": pl.String, "ds": pl.Int64, "y": pl.Float64}
    assert frame.rows() == ROWS


def test_a_query_is_read(postgres_uri, history):
    query = "SELECT unique_id, ds, y * 2 AS y FROM history WHERE y IS NOT NULL ORDER BY unique_id"
    assert SqlSource(uri=postgres_uri, query=query).read().rows() == [("a", 1, 3.0), ("b", 1, -6.5)]


def test_an_sqlite_table_is_read(sqlite_uri):
    frame = SqlSource(uri=sqlite_uri, table="history").read()
    assert frame.schema == {"unique_id": pl.String, "ds": pl.Int64, "y": pl.Float64}
    assert frame.rows() == ROWS


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        ("timestamptz '2024-03-31 03:00+02'", pl.Datetime("us", "UTC"), "2024-03-31 01:00:00+00:00"),
        ("timestamp '2024-03-31 03:00'", pl.Datetime("us"), "2024-03-31 03:00:00"),
        ("date '2024-03-31'", pl.Date(), "2024-03-31"),
        ("'12.30'::numeric", pl.Float64(), "12.3"),
        ("'Infinity'::numeric", pl.Float64(), "inf"),
        ("'NaN'::numeric", pl.Float64(), "nan"),
        ("1.5::real", pl.Float32(), "1.5"),
        ("7::smallint", pl.Int16(), "7"),
        ("true", pl.Boolean(), "True"),
        ("'ab'::char(3)", pl.String(), "ab "),
        ("'ab'::varchar", pl.String(), "ab"),
        ("'6a1f9f54-3c1e-4b6a-9a39-0b1f7d2c8e55'::uuid", pl.String(), "6a1f9f54-3c1e-4b6a-9a39-0b1f7d2c8e55"),
        ("NULL::numeric", pl.Float64(), "None"),
        ("NULL::uuid", pl.String(), "None"),
        ("'mon'::day", pl.String(), "mon"),
    ],
)
def test_the_types_of_the_database_become_those_of_a_frame(postgres_uri, execute, value, dtype, expected):
    execute("DROP TYPE IF EXISTS day")
    execute("CREATE TYPE day AS ENUM ('mon', 'tue')")
    column = SqlSource(uri=postgres_uri, query=f"SELECT {value} AS v FROM generate_series(1, 2)").read()["v"]
    assert column.dtype == dtype
    assert [str(cell) for cell in column] == [expected] * 2


def test_a_million_rows_come_in_pieces_of_one_type(postgres_uri):
    query = "SELECT 's' || g / 1000 AS unique_id, g % 1000 AS ds, g * 0.5 AS y FROM generate_series(0, 999999) AS g"
    sizes, schemas = [], []
    for piece in SqlSource(uri=postgres_uri, query=query).chunks():
        sizes.append(piece.height)
        schemas.append(piece.schema)
    assert sum(sizes) == 1_000_000
    assert max(sizes) < 500_000
    assert all(schema == schemas[0] for schema in schemas)


def test_a_query_without_rows_keeps_its_columns(postgres_uri):
    frame = SqlSource(uri=postgres_uri, query="SELECT 'a'::text AS unique_id, 1::numeric AS y WHERE false").read()
    assert (frame.height, frame.schema) == (0, {"unique_id": pl.String, "y": pl.Float64})


def test_names_with_capitals_and_schemas_are_found(postgres_uri, execute):
    execute('CREATE SCHEMA IF NOT EXISTS "Sales"')
    execute('CREATE TABLE IF NOT EXISTS "Sales"."Order" AS SELECT 1 AS "Day"')
    assert SqlSource(uri=postgres_uri, table="Sales.Order", order_by=("Day",)).read()["Day"].to_list() == [1]


def test_the_database_is_never_written_to(postgres_uri, history, execute):
    execute(
        "CREATE OR REPLACE FUNCTION emptied() RETURNS int LANGUAGE sql AS 'DELETE FROM history RETURNING 1'",
    )
    with pytest.raises(SourceError, match="read-only transaction"):
        SqlSource(uri=postgres_uri, query="SELECT emptied()").read()
    assert SqlSource(uri=postgres_uri, table=history).read().height == 3


def test_an_sqlite_file_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(SourceError, match=r"there is no file '.*absent\.db'"):
        SqlSource(uri=f"sqlite:///{tmp_path / 'absent.db'}", table="history").read()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("SELECT * FROM nowhere", 'relation "nowhere" does not exist'),
        ("SELECT 1 / (g - 900000) FROM generate_series(1, 1000000) AS g", "division by zero"),
        ("SELECT 1 AS a, 2 AS a", "cast columns|unique"),
        ("SELECT now() - now() AS span", r"\['span'\] hold spans of time.*cast columns"),
    ],
)
def test_what_the_database_refuses_is_said_in_its_words(postgres_uri, query, match):
    with pytest.raises(SourceError, match=match):
        SqlSource(uri=postgres_uri, query=query).read()


def test_columns_of_sqlite_that_change_their_type_are_refused_by_number(tmp_path):
    with sqlite3.connect(tmp_path / "mixed.db") as connection:
        connection.execute("CREATE TABLE mixed (y)")
        connection.executemany("INSERT INTO mixed VALUES (?)", [(1,)] * 70_000 + [(0.5,)])
    connection.close()
    with pytest.raises(SourceError, match=r"column 0: expected INT64 but got DOUBLE.*cast columns"):
        SqlSource(uri=f"sqlite:///{tmp_path / 'mixed.db'}", table="mixed").read()


@pytest.fixture(scope="module")
def reader_uri(postgres_uri: str, execute) -> str:
    """The address for a user who needs a password, with the right one in it."""
    execute(f"CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}' IN ROLE pg_read_all_data")
    rules = Path(postgres_uri.partition("host=")[2], "pg_hba.conf")
    rules.write_text(f"local all reader scram-sha-256\n{rules.read_text()}")
    execute("SELECT pg_reload_conf()")
    return postgres_uri.replace("postgres:@", f"reader:{quote(PASSWORD, safe='')}@")


def test_a_password_in_the_environment_lets_in_and_is_shown_nowhere(reader_uri, history, monkeypatch):
    monkeypatch.setenv("SALES_DB", reader_uri)
    source = build_config(Run, {"source": {"kind": "sql", "uri_env": "SALES_DB", "table": "history"}}).source
    assert source.read().height == 3
    for shown in (repr(source), str(source.describe()), str(to_plain(source))):
        assert "s3cr3t" not in shown


@pytest.mark.parametrize(
    "change",
    [
        lambda uri: uri.replace("s3cr3t", "s3cr3t-wrong"),
        lambda uri: uri.replace("host=/", "host=/nowhere/"),
        lambda uri: uri.replace("%40", "@"),
        lambda uri: uri.replace("%2F", "/"),
        lambda uri: uri.replace("%3F", "?"),
        lambda uri: uri.replace("%23", "#"),
        lambda uri: uri.replace("/postgres?", "/absent?"),
        lambda uri: uri + "&passwörd=s3cr3t",
        lambda uri: uri.replace(":", " ", 1),
        lambda uri: uri + "&channel_binding=s3cr3t",
    ],
)
def test_no_error_shows_the_password(reader_uri, history, monkeypatch, change):
    monkeypatch.setenv("SALES_DB", change(reader_uri))
    with pytest.raises(SourceError) as failed:
        SqlSource(uri_env="SALES_DB", table="history").read()
    assert "s3cr3t" not in str(failed.value)
    assert "s3cr3t" not in repr(failed.value.__cause__)
    assert "w@rd" not in str(failed.value)


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql://ada:s3cr3t@host/db",
        "postgresql://host/db?password=s3cr3t",
        "postgresql://ada@host/db?sslpassword=s3cr3t",
        "postgresql://ada:s3@cr3t@host/db",
        "postgresql://ada:s3/cr3t@host/db",
        "mysql://ada:s3cr3t@host/db",
        "ada:s3cr3t@host",
    ],
)
def test_a_password_in_a_configuration_is_refused_and_not_shown(uri):
    with pytest.raises(ConfigError, match=r"source: .*(uri_env|address)") as refused:
        build_config(Run, {"source": {"kind": "sql", "uri": uri, "table": "history"}})
    assert "s3" not in str(refused.value)
    assert "cr3t" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"table": "t"}, "one of 'uri' and 'uri_env'"),
        ({"uri": "postgresql://h/d", "uri_env": "X", "table": "t"}, "one of 'uri' and 'uri_env'"),
        ({"uri": "postgresql://h/d"}, "one of 'table' and 'query'"),
        ({"uri": "postgresql://h/d", "query": "SELECT 1", "order_by": ["a"]}, "ORDER BY into the query"),
        ({"uri": "mysql://h/d", "table": "t"}, "begins with one of postgresql://"),
    ],
)
def test_a_source_that_is_not_said_whole_is_refused(given, match):
    with pytest.raises(ConfigError, match=match):
        build_config(Run, {"source": {"kind": "sql", **given}})


def test_a_variable_that_is_not_set_is_named(monkeypatch):
    monkeypatch.delenv("SALES_DB", raising=False)
    with pytest.raises(SourceError, match="'SALES_DB' is not set"):
        SqlSource(uri_env="SALES_DB", table="history").read()


def test_a_driver_that_is_not_there_is_asked_for_with_the_line_to_type(monkeypatch, sqlite_uri):
    monkeypatch.setitem(sys.modules, "adbc_driver_sqlite.dbapi", None)
    with pytest.raises(BackendUnavailable, match=r"pip install 'longcast\[sql\]'"):
        SqlSource(uri=sqlite_uri, table="history").read()


def test_reading_can_be_given_up_half_way(postgres_uri):
    pieces = SqlSource(uri=postgres_uri, query="SELECT g FROM generate_series(1, 3000000) AS g").chunks()
    next(pieces)
    next(pieces)
    pieces.close()
    assert SqlSource(uri=postgres_uri, query="SELECT 1 AS one").read().height == 1


def test_importing_the_sources_loads_no_driver():
    asked = "import sys, pipelines.sources; print([name for name in sys.modules if name.startswith('adbc')])"
    ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_stamps_of_a_database_are_instants(postgres_uri):
    query = "SELECT timestamptz '2024-01-01 00:00Z' AS ds"
    (stamp,) = SqlSource(uri=postgres_uri, query=query).read()["ds"]
    assert stamp == datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
