"""The user's own files: every format gives the same rows, and what does not fit is named."""

import gzip
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from forecast.errors import SourceError
from pipelines.sources import FilesSource, SeriesInColumns

ROWS = pl.DataFrame({"unique_id": ["a", "a", "b"], "ds": [1, 2, 1], "y": [1.5, None, -3.25]})


def write_gz(frame: pl.DataFrame, path: Path) -> None:
    path.write_bytes(gzip.compress(frame.write_csv().encode()))


def write_text(path: Path, text: str, *, encoding: str = "utf-8") -> str:
    path.write_text(text, encoding=encoding)
    return str(path)


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "rows.csv": pl.DataFrame.write_csv,
    "rows.CSV": pl.DataFrame.write_csv,
    "rows.csv.gz": write_gz,
    "bom.csv": lambda frame, path: frame.write_csv(path, include_bom=True),
    "crlf.csv": lambda frame, path: frame.write_csv(path, line_terminator="\r\n"),
    "rows.parquet": pl.DataFrame.write_parquet,
    "rows.pq": pl.DataFrame.write_parquet,
    "rows.arrow": pl.DataFrame.write_ipc,
    "stream.arrow": pl.DataFrame.write_ipc_stream,
    "rows.feather": pl.DataFrame.write_ipc,
    "name[1].parquet": pl.DataFrame.write_parquet,
    "name[1].csv": pl.DataFrame.write_csv,
    "name[1].ipc": pl.DataFrame.write_ipc,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_rows(tmp_path, name):
    WRITERS[name](ROWS, tmp_path / name)
    frame = FilesSource(paths=str(tmp_path / name)).read()
    assert frame.schema == ROWS.schema
    assert frame.equals(ROWS)


def test_files_of_a_pattern_are_read_in_alphabetical_order_and_lists_in_their_own(tmp_path):
    for name in ("b", "a", "c"):
        write_text(tmp_path / f"{name}.csv", f"unique_id,ds,y\n{name},1,2\n")
    by_pattern = FilesSource(paths=str(tmp_path / "*.csv")).read()
    by_list = FilesSource(paths=(str(tmp_path / "c.csv"), str(tmp_path / "a.csv"))).read()
    assert by_pattern["unique_id"].to_list() == ["a", "b", "c"]
    assert by_list["unique_id"].to_list() == ["c", "a"]


def test_a_file_that_two_patterns_match_is_read_once(tmp_path):
    write_text(tmp_path / "a.csv", "unique_id,ds,y\na,1,2\n")
    assert FilesSource(paths=(str(tmp_path / "a.csv"), str(tmp_path / "*.csv"))).read().height == 1


def test_patterns_go_into_folders_and_variables_and_home_are_replaced(tmp_path, monkeypatch):
    (tmp_path / "2024" / "05").mkdir(parents=True)
    write_text(tmp_path / "2024" / "05" / "a.csv", "unique_id,ds,y\na,1,2\n")
    monkeypatch.setenv("ROWS_DIR", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert FilesSource(paths="$ROWS_DIR/**/*.csv").read().height == 1
    assert FilesSource(paths="~/2024/05/a.csv").read().height == 1


def test_columns_are_matched_by_name_between_files(tmp_path):
    write_text(tmp_path / "a.csv", "unique_id,ds,y\na,1,2\n")
    write_text(tmp_path / "b.csv", "y,unique_id,ds\n3.5,b,1\n")
    frame = FilesSource(paths=str(tmp_path / "*.csv")).read()
    assert frame.to_dicts() == [{"unique_id": "a", "ds": 1, "y": 2.0}, {"unique_id": "b", "ds": 1, "y": 3.5}]


def test_types_are_decided_by_all_cells_of_all_text_files(tmp_path):
    write_text(tmp_path / "a.csv", "unique_id,ds,y\n1,1,\n2,2,\n")
    write_text(tmp_path / "b.csv", "unique_id,ds,y\nx,1,0.5\n")
    frame = FilesSource(paths=str(tmp_path / "*.csv")).read()
    assert frame["unique_id"].to_list() == ["1", "2", "x"]
    assert frame["y"].to_list() == [None, None, 0.5]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "2"], [1, 2]),
        (["9007199254740993", ""], [9007199254740993, None]),
        (["1", "2.5", "1e-3", ".5"], [1.0, 2.5, 0.001, 0.5]),
        ([" 1.5", "2 "], [1.5, 2.0]),
        (["NA", "3"], [None, 3]),
        (["007", "8"], ["007", "8"]),
        (["0", "-0.5"], [0.0, -0.5]),
        (["True", "false", ""], [True, False, None]),
        (["NA", "DE"], ["NA", "DE"]),
        (["2024-01-01", "2024-01-02"], ["2024-01-01", "2024-01-02"]),
        (["20240101", "20240102"], [20240101, 20240102]),
        (["1,5", "2"], ["1,5", "2"]),
    ],
)
def test_cells_of_text_files_keep_what_was_written(tmp_path, cells, expected):
    pl.DataFrame({"cells": cells, "y": [1.0] * len(cells)}).write_csv(tmp_path / "rows.csv", quote_style="non_numeric")
    assert FilesSource(paths=str(tmp_path / "rows.csv")).read()["cells"].to_list() == expected


def test_text_ids_of_a_parquet_file_stay_text(tmp_path):
    ROWS.with_columns(unique_id=pl.lit("12")).write_parquet(tmp_path / "rows.parquet")
    assert FilesSource(paths=str(tmp_path / "rows.parquet")).read().schema["unique_id"] == pl.String


def test_a_wide_table_becomes_long_column_after_column(tmp_path):
    path = write_text(tmp_path / "wide.csv", "b,date,a\n1,2024-01-01,2.5\n,2024-01-02,3\n")
    frame = FilesSource(paths=path, wide=SeriesInColumns(time="date")).read()
    assert frame.columns == ["unique_id", "ds", "y"]
    assert frame.rows() == [
        ("b", "2024-01-01", 1.0),
        ("b", "2024-01-02", None),
        ("a", "2024-01-01", 2.5),
        ("a", "2024-01-02", 3.0),
    ]


def test_a_wide_table_without_its_time_column_is_refused(tmp_path):
    path = write_text(tmp_path / "wide.csv", "day,a\n1,2\n")
    with pytest.raises(SourceError, match=r"no column is called 'date'.*'day', 'a'"):
        FilesSource(paths=path, wide=SeriesInColumns(time="date")).read()


def test_a_column_of_text_in_a_wide_table_is_refused_by_name(tmp_path):
    path = write_text(tmp_path / "wide.csv", "day,a,place\n1,2,Oslo\n")
    with pytest.raises(SourceError, match=r"columns \['place'\] hold no numbers"):
        FilesSource(paths=path, wide=SeriesInColumns(time="day")).read()


@pytest.mark.parametrize("pattern", ["absent.csv", "*.csv", "absent/**/*.parquet"])
def test_nothing_found_is_an_error_that_says_where_was_looked(tmp_path, pattern):
    with pytest.raises(SourceError, match=r"no file is at .*seen from the folder"):
        FilesSource(paths=str(tmp_path / pattern)).read()


def test_no_path_at_all_is_refused():
    with pytest.raises(SourceError, match="no path is given"):
        FilesSource(paths=()).read()


def test_a_folder_is_refused_with_the_pattern_to_write(tmp_path):
    with pytest.raises(SourceError, match=r"is a folder; name its files, for example .*\*\.csv"):
        FilesSource(paths=str(tmp_path)).read()


@pytest.mark.parametrize(("name", "match"), [("rows.xlsx", "no known ending"), ("rows.parquet", "cannot be read")])
def test_a_file_of_another_kind_is_refused_by_name(tmp_path, name, match):
    path = write_text(tmp_path / name, "unique_id,ds,y\n")
    with pytest.raises(SourceError, match=f"{name}.*{match}"):
        FilesSource(paths=path).read()


@pytest.mark.parametrize(("content", "name"), [(b"", "empty.csv"), (b"a,b\n\xff\xfe,1\n", "latin.csv")])
def test_an_empty_or_wrongly_encoded_text_file_is_refused_by_name(tmp_path, content, name):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=f"{name} cannot be read"):
        FilesSource(paths=str(tmp_path / name)).read()


def test_files_with_other_columns_are_refused_with_the_columns(tmp_path):
    write_text(tmp_path / "a.csv", "unique_id,ds,y\na,1,2\n")
    write_text(tmp_path / "b.csv", "unique_id,ds,price\na,1,2\n")
    with pytest.raises(SourceError, match=r"same columns; only one has \['price', 'y'\]"):
        FilesSource(paths=str(tmp_path / "*.csv")).read()


def test_a_type_that_would_be_rewritten_as_text_is_refused_with_the_column(tmp_path):
    ROWS.write_parquet(tmp_path / "a.parquet")
    ROWS.with_columns(ds=pl.lit("2024-01-01")).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(SourceError, match="'ds': 'Int64 and String'"):
        FilesSource(paths=str(tmp_path / "*.parquet")).read()


def test_whole_and_decimal_numbers_of_two_files_go_together(tmp_path):
    ROWS.write_parquet(tmp_path / "a.parquet")
    ROWS.with_columns(y=pl.lit(7)).write_parquet(tmp_path / "b.parquet")
    assert FilesSource(paths=str(tmp_path / "*.parquet")).read()["y"].to_list() == [1.5, None, -3.25, 7.0, 7.0, 7.0]


def test_two_formats_in_one_source_are_refused(tmp_path):
    ROWS.write_parquet(tmp_path / "a.parquet")
    ROWS.write_csv(tmp_path / "b.csv")
    with pytest.raises(SourceError, match="of different formats"):
        FilesSource(paths=(str(tmp_path / "a.parquet"), str(tmp_path / "b.csv"))).read()


def test_real_files_keep_their_names_marks_and_missing_cells(data_dir):
    flights = FilesSource(paths=str(data_dir / "open" / "uk_daily_flights.csv")).read()
    smog = FilesSource(paths=str(data_dir / "open" / "hourly_beijing_pm.csv")).read()
    assert flights.columns == ["Date", "Number of flights"]
    assert flights["Date"][0] == "02/01/2019"
    assert smog["pm2.5"].null_count() == 2067
    assert smog.schema["pm2.5"].is_numeric()


def test_the_wide_file_of_a_public_set_gives_the_series_of_the_named_set(data_dir):
    from pipelines.sources import PublicSource

    wide = FilesSource(paths=str(data_dir / "ett" / "ETTh1.csv"), wide=SeriesInColumns(time="date")).read()
    assert wide.drop("ds").equals(PublicSource(name="ETTh1").read().drop("ds"))
