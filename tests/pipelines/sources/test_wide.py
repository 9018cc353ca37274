"""Wide tables, one series a column or one a row, become long frames."""

from pathlib import Path

import polars as pl
import pytest

from forecast.config import build_config, config, to_plain
from forecast.errors import ConfigError, SourceError
from pipelines.sources import FilesSource, SeriesInColumns, SeriesInRows, Source, wide


@config
class Run:
    source: Source


def write_text(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


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


def test_many_columns_come_a_few_at_a_time_and_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr(wide, "CELLS", 5)
    columns = {f"s{number}": [number * 10 + step for step in range(4)] for number in range(7)}
    pl.DataFrame({"date": [1, 2, 3, 4], **columns}).write_csv(tmp_path / "wide.csv")
    pieces = list(FilesSource(paths=str(tmp_path / "wide.csv"), wide=SeriesInColumns(time="date")).chunks())
    assert len(pieces) == 7
    long = pl.concat(pieces)
    assert long["unique_id"].unique(maintain_order=True).to_list() == list(columns)
    assert long["y"].to_list() == [float(value) for values in columns.values() for value in values]


def test_series_of_whole_numbers_and_of_others_are_of_one_type(tmp_path):
    path = write_text(tmp_path / "wide.csv", "date,a,b,c\n1,1,2.5,\n2,2,3.5,\n")
    frame = FilesSource(paths=path, wide=SeriesInColumns(time="date")).read()
    assert frame["y"].to_list() == [1.0, 2.0, 2.5, 3.5, None, None]


def test_a_table_of_one_series_a_row_becomes_long_row_after_row(tmp_path):
    path = write_text(tmp_path / "rows.csv", "V1,V2,V3,V4,V5\nb,1,2.5,,\na,,7,,9\n")
    frame = FilesSource(paths=path, wide=SeriesInRows(id="V1")).read()
    assert frame.schema == {"unique_id": pl.String, "ds": pl.Int64, "y": pl.Float64}
    assert frame.rows() == [
        ("b", 0, 1.0),
        ("b", 1, 2.5),
        ("a", 0, None),
        ("a", 1, 7.0),
        ("a", 2, None),
        ("a", 3, 9.0),
    ]


def test_a_row_without_a_value_keeps_its_first_step_so_that_the_contract_names_it(tmp_path):
    path = write_text(tmp_path / "rows.csv", "id,0,1\na,,\nb,1,2\n")
    frame = FilesSource(paths=path, wide=SeriesInRows(id="id", start=100)).read()
    assert frame.rows() == [("a", 100, None), ("b", 100, 1.0), ("b", 101, 2.0)]


def test_the_column_of_ids_may_stand_anywhere(tmp_path):
    path = write_text(tmp_path / "rows.csv", "one,two,name\n1,2,007\n")
    frame = FilesSource(paths=path, wide=SeriesInRows(id="name")).read()
    assert frame.rows() == [("007", 0, 1.0), ("007", 1, 2.0)]


def test_rows_of_several_files_with_other_lengths_go_together(tmp_path, monkeypatch):
    monkeypatch.setattr(wide, "CELLS", 4)
    for name in ("a", "b"):
        write_text(tmp_path / f"{name}.csv", f"id,0,1,2\n{name}1,1,2,3\n{name}2,4,,\n{name}3,,,\n")
    pieces = list(FilesSource(paths=str(tmp_path / "*.csv"), wide=SeriesInRows(id="id")).chunks())
    assert len(pieces) == 6
    lengths = pl.concat(pieces).group_by("unique_id", maintain_order=True).len()
    assert lengths.rows() == [("a1", 3), ("a2", 1), ("a3", 1), ("b1", 3), ("b2", 1), ("b3", 1)]


def test_the_weekly_series_of_m4_have_their_own_lengths(data_dir):
    source = FilesSource(paths=str(data_dir / "unclear" / "M4_Weekly-train.csv"), wide=SeriesInRows(id="V1"))
    frame = source.read()
    lengths = frame.group_by("unique_id", maintain_order=True).len()["len"]
    assert (len(lengths), lengths.min(), lengths.max()) == (359, 80, 2_597)
    assert frame["y"].null_count() == 0
    assert frame["unique_id"][0] == "W1"


@pytest.mark.parametrize(
    ("plain", "expected"),
    [
        ({"time": "date"}, SeriesInColumns(time="date")),
        ({"id": "V1"}, SeriesInRows(id="V1")),
        ({"id": "V1", "start": 5}, SeriesInRows(id="V1", start=5)),
    ],
)
def test_the_form_is_told_by_the_column_that_is_named(plain, expected):
    source = build_config(Run, {"source": {"kind": "files", "paths": "a.csv", "wide": plain}}).source
    assert source.wide == expected
    assert build_config(Run, {"source": to_plain(source)}).source == source


@pytest.mark.parametrize(
    ("plain", "match"),
    [
        ({"tiem": "date"}, r"source\.wide\.tiem: unknown key; did you mean 'time'"),
        ({"id": "V1", "strat": 3}, r"source\.wide\.strat: unknown key; did you mean 'start'"),
        ({}, r"wide\.time: is needed"),
        ({"id": "V1", "time": "date"}, "unknown key"),
        ("date", "must be a section"),
    ],
)
def test_a_form_that_is_not_said_whole_is_refused_with_the_key(plain, match):
    with pytest.raises(ConfigError, match=match):
        build_config(Run, {"source": {"kind": "files", "paths": "a.csv", "wide": plain}})
