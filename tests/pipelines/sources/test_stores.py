"""Files in an object store and on a web server, read as local ones are; no credential is ever shown."""

import gzip
import lzma
import os
from collections.abc import Callable
from io import BytesIO

import polars as pl
import pytest

from forecast.config import build_config, config
from forecast.errors import ConfigError, SourceError
from pipelines.sources import FilesSource, SeriesInRows, Source

ROWS = pl.DataFrame({"unique_id": ["a", "a", "b"], "ds": [1, 2, 1], "y": [1.5, None, -3.25]})
STORE_SECRET = "not-to-be-shown"


@config
class Run:
    source: Source


def content(write: Callable[[pl.DataFrame, BytesIO], object], rows: pl.DataFrame = ROWS) -> bytes:
    buffer = BytesIO()
    write(rows, buffer)
    return buffer.getvalue()


CONTENTS = {
    "rows.csv": content(pl.DataFrame.write_csv),
    "bom.csv": content(lambda frame, file: frame.write_csv(file, include_bom=True)),
    "rows.csv.gz": gzip.compress(content(pl.DataFrame.write_csv)),
    "rows.parquet": content(pl.DataFrame.write_parquet),
    "rows.arrow": content(pl.DataFrame.write_ipc),
}


@pytest.mark.parametrize("name", CONTENTS)
def test_every_format_gives_the_same_rows_from_a_store(store, name):
    frame = FilesSource(paths=store(f"one/{name}", CONTENTS[name])).read()
    assert frame.schema == ROWS.schema
    assert frame.equals(ROWS)


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.arrow"])
def test_a_pattern_in_a_store_is_read_in_alphabetical_order_with_the_columns_of_its_folders(store, name):
    ending = name.partition(".")[2]
    for year, first in ((2024, "c"), (2023, "d")):
        rows = ROWS.with_columns(unique_id=pl.lit(first))
        write = {"csv": pl.DataFrame.write_csv, "parquet": pl.DataFrame.write_parquet, "arrow": pl.DataFrame.write_ipc}
        store(f"many/{ending}/year={year}/{name}", content(write[ending], rows))
    frame = FilesSource(paths=f"s3://bucket/many/{ending}/**/*.{ending}").read()
    assert frame["unique_id"].to_list() == ["d"] * 3 + ["c"] * 3
    assert frame["year"].to_list() == [2023] * 3 + [2024] * 3
    assert frame.columns == [*ROWS.columns, "year"]


def test_a_wide_table_is_read_from_a_store(store):
    url = store("wide/rows.csv", b"id,0,1\na,1,2\nb,3,\n")
    frame = FilesSource(paths=url, wide=SeriesInRows(id="id")).read()
    assert frame.rows() == [("a", 0, 1.0), ("a", 1, 2.0), ("b", 0, 3.0)]


@pytest.mark.parametrize(
    ("url", "match"),
    [
        ("s3://bucket/absent.csv", r"s3://bucket/absent\.csv cannot be read.*not found"),
        ("s3://bucket/absent/*.csv", r"s3://bucket/absent/\*\.csv cannot be read"),
        ("s3://absent-bucket/rows.parquet", "cannot be read"),
        ("s3://bucket/rows", "no known ending"),
        ("ftp://host/rows.csv", "of the scheme 'ftp'; read are s3"),
    ],
)
def test_what_is_not_there_is_said_with_its_url(store, url, match):
    with pytest.raises(SourceError, match=match) as failed:
        FilesSource(paths=url).read()
    assert STORE_SECRET not in str(failed.value)


def test_an_xz_file_in_a_store_is_refused(store):
    url = store("one/rows.csv.xz", lzma.compress(CONTENTS["rows.csv"]))
    with pytest.raises(SourceError, match="read from local files alone"):
        FilesSource(paths=url).read()


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_a_file_on_a_web_server_is_read(store, monkeypatch, name):
    store(f"web/{name}", CONTENTS[name])
    monkeypatch.setenv("SIGNED_URL", f"{os.environ['AWS_ENDPOINT_URL']}/bucket/web/{name}?sig=t0p-s3cret")
    assert FilesSource(paths="$SIGNED_URL").read().equals(ROWS)


@pytest.mark.parametrize(
    "url",
    [
        "s3://key:t0p-s3cret@bucket/rows.csv",
        "https://ada:t0p-s3cret@host/rows.csv",
        "https://t0p-s3cret@host/rows.csv",
        "https://host/rows.csv?X-Amz-Signature=t0p-s3cret",
        "https://account.blob.core.windows.net/rows.csv?sig=t0p-s3cret",
        ["a.csv", "az://key:t0p-s3cret@container/rows.csv"],
    ],
)
def test_a_credential_in_a_configuration_is_refused_and_not_shown(url):
    with pytest.raises(ConfigError, match="environment variable") as refused:
        build_config(Run, {"source": {"kind": "files", "paths": url}})
    assert "t0p" not in str(refused.value)


def test_a_container_before_an_at_sign_is_no_credential():
    source = FilesSource(paths="abfss://container@account.dfs.core.windows.net/rows.csv")
    assert source.describe().origin == "abfss://container@account.dfs.core.windows.net/rows.csv"


@pytest.mark.parametrize(
    "url",
    [
        "http://STORE/bucket/absent.csv?sig=t0p-s3cret%2Fx",
        "http://ada:t0p-s3cret@STORE/bucket/absent.csv",
        "http://t0p-s3cret@STORE/bucket/absent.parquet",
        "http://ada:t0p-s3cret@STORE/rows",
        "s3://ada:t0p-s3cret@bucket/rows.csv",
        "ftp://ada:t0p-s3cret@host/rows.csv",
    ],
)
def test_a_signed_url_in_the_environment_is_shown_nowhere(store, monkeypatch, url):
    monkeypatch.setenv("SIGNED_URL", url.replace("STORE", os.environ["AWS_ENDPOINT_URL"].removeprefix("http://")))
    source = FilesSource(paths="$SIGNED_URL")
    assert "t0p" not in repr(source) + str(source.describe())
    with pytest.raises(SourceError) as failed:
        source.read()
    assert "t0p" not in str(failed.value)
    assert "t0p" not in repr(failed.value.__cause__)
