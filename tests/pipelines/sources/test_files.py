"""The user's own files: every format gives the same rows, and what does not fit is named."""

import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from forecast.errors import SourceError
from pipelines.sources import FilesSource, SeriesInColumns

ROWS = pl.DataFrame({"unique_id": ["a", "a", "b"], "ds": [1, 2, 1], "y": [1.5, None, -3.25]})


def write_gz(frame: pl.DataFrame, path: Path) -> None:
    path.write_bytes(gzip.compress(frame.write_csv().encode()))


def write_xz(frame: pl.DataFrame, path: Path) -> None:
    path.write_bytes(lzma.compress(frame.write_csv().encode()))


def write_text(path: Path, text: str, *, encoding: str = "utf-8") -> str:
    path.write_text(text, encoding=encoding)
    return str(path)


WRITERS: dict[str, Callable[[pl.DataFrame, Path], object]] = {
    "rows.csv": pl.DataFrame.write_csv,
    "rows.CSV": pl.DataFrame.write_csv,
    "rows.csv.gz": write_gz,
    "rows.csv.xz": write_xz,
    "rows.csv.zst": lambda frame, path: frame.lazy().sink_csv(path, compression="zstd"),
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


@pytest.mark.parametrize("pattern", ["absent.csv", "*.csv", "absent/**/*.parquet"])
def test_nothing_found_is_an_error_that_says_where_was_looked(tmp_path, pattern):
    with pytest.raises(SourceError, match=r"no file is at .*seen from the folder"):
        FilesSource(paths=str(tmp_path / pattern)).read()


def test_no_path_at_all_is_refused():
    with pytest.raises(SourceError, match="no path is given"):
        FilesSource(paths=()).read()


def test_a_folder_without_files_is_an_error(tmp_path):
    (tmp_path / "_logs").mkdir()
    write_text(tmp_path / "_logs" / "a.csv", "unique_id,ds,y\na,1,2\n")
    with pytest.raises(SourceError, match="no file is at"):
        FilesSource(paths=str(tmp_path)).read()


def test_a_folder_is_read_whole_but_for_what_its_writer_left_beside_the_data(tmp_path):
    for name in ("b.csv", "deep/a.csv", "_SUCCESS", ".part.csv", "_tmp/c.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_text(tmp_path / name, f"unique_id,ds,y\n{Path(name).stem},1,2\n")
    assert FilesSource(paths=str(tmp_path)).read()["unique_id"].to_list() == ["b", "a"]


def test_folders_named_by_a_value_become_a_column_of_its_type(tmp_path):
    for year, place, share in ((2023, "Oslo", "0.5"), (2024, "New%20York", "1")):
        folder = tmp_path / f"year={year}" / f"place={place}" / f"share={share}"
        folder.mkdir(parents=True)
        ROWS.write_parquet(folder / "rows.parquet")
    frame = FilesSource(paths=str(tmp_path)).read()
    assert frame.schema == {**ROWS.schema, "year": pl.Int64, "place": pl.String, "share": pl.Float64}
    assert frame["year"].to_list() == [2023] * 3 + [2024] * 3
    assert frame["place"].unique(maintain_order=True).to_list() == ["Oslo", "New York"]
    assert frame["share"].unique(maintain_order=True).to_list() == [0.5, 1.0]


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz", "rows.parquet", "rows.arrow"])
def test_a_pattern_names_columns_by_folders_in_every_format(tmp_path, name):
    for month in ("01", "02"):
        (tmp_path / f"month={month}").mkdir()
        WRITERS[name](ROWS, tmp_path / f"month={month}" / name)
    frame = FilesSource(paths=str(tmp_path / "*" / name)).read()
    assert frame.select(ROWS.columns).equals(pl.concat([ROWS, ROWS]))
    assert frame["month"].to_list() == ["01"] * 3 + ["02"] * 3


def test_a_folder_without_a_value_gives_a_missing_one(tmp_path):
    for name in ("zone=1", "zone=__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / name).mkdir()
        ROWS.write_parquet(tmp_path / name / "rows.parquet")
    assert FilesSource(paths=str(tmp_path)).read()["zone"].to_list() == [1] * 3 + [None] * 3


def test_a_column_of_the_file_itself_wins_over_the_name_of_its_folder(tmp_path):
    (tmp_path / "ds=2020").mkdir()
    ROWS.write_parquet(tmp_path / "ds=2020" / "rows.parquet")
    assert FilesSource(paths=str(tmp_path)).read().equals(ROWS)


def test_what_a_partitioned_writer_wrote_is_read_back(tmp_path):
    rows = pl.DataFrame({"unique_id": ["a", "b", "a"], "ds": [1, 1, 2], "y": [1.0, 2.0, 3.0], "year": [1, 2, 1]})
    rows.lazy().sink_parquet(pl.PartitionBy(tmp_path, key="year", include_key=False), mkdir=True)
    frame = FilesSource(paths=str(tmp_path)).read()
    assert frame.sort("unique_id", "ds").equals(rows.select(frame.columns).sort("unique_id", "ds"))


def test_folders_that_name_other_columns_are_refused(tmp_path):
    for name in ("year=1", "month=1"):
        (tmp_path / name).mkdir()
        ROWS.write_parquet(tmp_path / name / "rows.parquet")
    with pytest.raises(SourceError, match=r"only one has \['month', 'year'\]"):
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


def test_a_file_url_is_a_path(tmp_path):
    ROWS.write_parquet(tmp_path / "my rows.parquet")
    assert FilesSource(paths=(tmp_path / "my rows.parquet").as_uri()).read().equals(ROWS)


@pytest.mark.parametrize("content", [b"\xfd7zXZ\x00half", lzma.compress(b"unique_id,ds,y\n" * 99)[:-9]])
def test_a_cut_xz_file_is_refused_by_name(tmp_path, content):
    (tmp_path / "cut.csv.xz").write_bytes(content)
    with pytest.raises(SourceError, match=r"cut\.csv\.xz cannot be read"):
        FilesSource(paths=str(tmp_path / "cut.csv.xz")).read()


@pytest.mark.parametrize("ending", ["csv", "csv.xz", "parquet", "arrow"])
def test_large_files_come_in_pieces_of_one_type_and_in_order(tmp_path, ending):
    rows = pl.select(unique_id=pl.lit("a"), ds=pl.int_range(250_000), y=pl.int_range(250_000) * 0.5)
    rows = rows.with_columns(y=pl.when(pl.col("ds") < 200_000).then(pl.col("y").floor()).otherwise("y"))
    WRITERS[f"rows.{ending}"](rows, tmp_path / f"rows.{ending}")
    pieces = list(FilesSource(paths=str(tmp_path / f"rows.{ending}")).chunks())
    assert len(pieces) >= 3
    assert {piece.schema for piece in map(FixedSchema, pieces)} == {FixedSchema(rows).schema}
    assert pl.concat(pieces).equals(rows)


class FixedSchema:
    """A frame's schema as something that a set can hold."""

    def __init__(self, frame: pl.DataFrame):
        self.schema = tuple(frame.schema.items())


def test_nothing_is_left_in_the_folder_for_unpacked_files(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    write_xz(ROWS, tmp_path / "rows.csv.xz")
    assert FilesSource(paths=str(tmp_path / "rows.csv.xz")).read().equals(ROWS)
    assert not list((tmp_path / "scratch").iterdir())


@pytest.mark.parametrize(
    ("name", "rows", "columns"),
    [
        ("open/minute_yosemite_temps.csv.xz", 18_721, {"ds": pl.String, "y": pl.Float64}),
        ("open/minute_energy_appliance.csv.xz", 19_735, {"Appliances": pl.Int64, "T1": pl.Float64}),
        ("open/uk_daily_flights.csv", 1_118, {}),
        ("unclear/weather.csv.gz", 52_696, {"date": pl.String}),
        ("open/m4_hourly.parquet", 373_372, {}),
    ],
)
def test_real_files_are_read_with_numbers_as_numbers(data_dir, name, rows, columns):
    frame = FilesSource(paths=str(data_dir / name)).read()
    assert frame.height == rows
    assert {column: frame.schema[column] for column in columns} == columns
    assert not any("\ufeff" in column or "\r" in column for column in frame.columns)
