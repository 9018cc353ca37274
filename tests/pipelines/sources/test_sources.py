"""What every source of the union must do, and the exact rows of the ones that ship with the project."""

import hashlib
import sqlite3
from importlib.resources import files
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
import pytest

from forecast.config import build_config, config, to_plain
from forecast.errors import ConfigError
from pipelines.sources import EmbeddedSource, PublicSource, SineSource, Source

MEMBERS = get_args(get_args(Source)[0])
KINDS = [member.kind for member in MEMBERS]


@config
class Run:
    source: Source


def build(plain) -> Source:
    return build_config(Run, {"source": plain}).source


@pytest.fixture
def plain(request: pytest.FixtureRequest, tmp_path: Path) -> dict:
    """One complete configuration of the kind asked for, with the data that it needs in place."""
    if request.param == "files":
        pl.DataFrame({"unique_id": ["a"], "ds": [1], "y": [2.0]}).write_csv(tmp_path / "rows.csv")
        return {"kind": "files", "paths": str(tmp_path / "rows.csv"), "wide": None}
    if request.param == "sql":
        with sqlite3.connect(tmp_path / "rows.db") as connection:
            connection.execute("CREATE TABLE history AS SELECT 'a' AS unique_id, 1 AS ds, 2.0 AS y")
        connection.close()
        plain = {"kind": "sql", "uri": f"sqlite:///{tmp_path / 'rows.db'}", "uri_env": None, "table": "history"}
        return {**plain, "order_by": ["ds"], "query": None}
    if request.param == "public":
        request.getfixturevalue("data_dir")
        return {"kind": "public", "name": "ETTh1"}
    return {"embedded": {"kind": "embedded", "name": "sea_surface_temperature"}, "sine": {"kind": "sine"}}[
        request.param
    ]


@pytest.mark.parametrize("plain", KINDS, indirect=True)
def test_a_source_gives_a_long_frame_and_the_same_one_again(plain):
    source = build(plain)
    frame = source.read()
    assert frame.columns == ["unique_id", "ds", "y"]
    assert frame.height > 0
    assert frame.schema["y"] == pl.Float64
    assert frame.equals(source.read())


@pytest.mark.parametrize("plain", KINDS, indirect=True)
def test_the_pieces_of_a_source_are_its_rows(plain):
    source = build(plain)
    pieces = list(source.chunks())
    assert all(piece.schema == pieces[0].schema for piece in pieces)
    assert pl.concat(pieces).equals(source.read())


@pytest.mark.parametrize("plain", KINDS, indirect=True)
def test_a_source_survives_its_plain_form_and_describes_itself(plain):
    source = build(plain)
    assert to_plain(source) == plain
    description = source.describe()
    assert description.name
    assert description.origin in str(description)


def test_an_unknown_kind_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"unknown kind 'excel'.*'embedded'"):
        build({"kind": "excel"})


def test_an_unknown_public_set_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="ETTh1"):
        build({"kind": "public", "name": "ETTh3"})


def test_sine_is_the_task_as_written():
    frame = SineSource().read()
    x = np.linspace(0, 100 * np.pi, 10_000)
    np.testing.assert_array_equal(frame["y"], np.sin(x) + 0.1 * np.sin(5 * x))
    np.testing.assert_array_equal(frame["ds"], np.arange(10_000))
    assert frame.schema["ds"] == pl.Int64
    assert frame["unique_id"].unique().to_list() == ["sine"]


def test_the_embedded_series_has_its_stamps_gaps_and_double_stamp():
    frame = EmbeddedSource().read()
    assert frame.schema["ds"] == pl.Datetime("us", "UTC")
    assert frame.null_count().sum_horizontal().item() == 0
    assert (str(frame["ds"][0]), str(frame["ds"][-1])) == ("2016-02-15 00:00:00+00:00", "2017-03-22 00:00:00+00:00")
    assert (frame["y"][0], frame["y"][-1], frame.height) == (4.929, 4.316, 19_226)
    minutes = frame["ds"].diff().dt.total_minutes().drop_nulls()
    assert sorted(minutes.filter(minutes != 30)) == [0, 60, 720]


def test_the_embedded_file_is_unmodified_and_its_attribution_is_beside_it():
    folder = files("pipelines.sources.embedded")
    content = folder.joinpath("sea_surface_temperature.csv.gz").read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    attribution = folder.joinpath("ATTRIBUTION.md").read_text(encoding="utf-8")
    assert digest == "529155ac773634b0dca439781a839487640db92e2bdb597e372a2b0ba0ffbff0"
    assert digest in attribution
    assert "NERACOOS" in attribution


@pytest.mark.parametrize(
    ("name", "steps", "every"), [("ETTh1", 17420, 60), ("ETTh2", 17420, 60), ("ETTm1", 69680, 15), ("ETTm2", 69680, 15)]
)
def test_public_sets_have_seven_series_in_the_order_of_the_file(data_dir, name, steps, every):
    frame = PublicSource(name=name).read()
    assert frame["unique_id"].unique(maintain_order=True).to_list() == [
        "HUFL",
        "HULL",
        "MUFL",
        "MULL",
        "LUFL",
        "LULL",
        "OT",
    ]
    assert frame.height == 7 * steps
    assert frame.schema["ds"] == pl.Datetime("us")
    oil = frame.filter(pl.col("unique_id") == "OT")
    assert oil["ds"].diff().drop_nulls().dt.total_minutes().unique().to_list() == [every]
    assert str(oil["ds"][0]) == "2016-07-01 00:00:00"
    assert frame["y"].is_finite().all()
