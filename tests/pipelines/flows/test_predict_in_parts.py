"""Forecasts part by part are those of the whole frame, with the same warnings and errors."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from forecast.artifact import save_artifact
from forecast.errors import ColumnMissing, MissingValues
from forecast.frames.contract import DataContract
from forecast.predictor import Predictor, SeriesLeftOut
from pipelines.flows.predict_in_parts import predict_in_parts
from pipelines.preparation import InStore, prepare_source
from pipelines.sources import FilesSource
from tests.tiny_model import HORIZON, tiny_artifact, tiny_history

QUANTILES = ["mean", "0.1", "0.5", "0.9"]


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    save_artifact(tiny_artifact(), tmp_path / "artifact")
    return tmp_path / "artifact"


@pytest.fixture
def history() -> pl.DataFrame:
    return pl.concat(tiny_history(num_steps=40 + k, ids=(f"s{k}",)) for k in range(9))


def source_of(frame: pl.DataFrame, tmp_path: Path) -> FilesSource:
    frame.write_parquet(tmp_path / "rows.parquet")
    return FilesSource(paths=str(tmp_path / "rows.parquet"))


@pytest.mark.parametrize("parts", [1, 4])
def test_parts_forecast_what_the_whole_frame_forecasts(tmp_path, artifact, history, parts):
    way = InStore(folder=tmp_path / "work", num_partitions=parts)
    found = predict_in_parts(source_of(history, tmp_path), artifact, way, quantile_levels=(0.1, 0.5, 0.9))
    whole = Predictor.load(artifact).predict(history, quantile_levels=(0.1, 0.5, 0.9))
    assert found.drop(QUANTILES).equals(whole.drop(QUANTILES))
    np.testing.assert_allclose(found.select(QUANTILES), whole.select(QUANTILES), rtol=1e-5)
    assert found.height == 9 * HORIZON


def test_the_horizon_asked_for_is_given(tmp_path, artifact, history):
    way = InStore(folder=tmp_path / "work", num_partitions=3)
    assert predict_in_parts(source_of(history, tmp_path), artifact, way, horizon=2).height == 18


def test_series_that_cannot_be_forecast_are_told_and_the_others_forecast(tmp_path, artifact, history):
    frame = pl.concat([history, history.filter(pl.col("unique_id").is_in(["s2", "s7"])).with_columns(y=float("inf"))])
    with pytest.warns(SeriesLeftOut) as told:
        found = predict_in_parts(
            source_of(frame, tmp_path), artifact, InStore(folder=tmp_path / "work", num_partitions=9)
        )
    assert sorted(found["unique_id"].unique()) == ["s0", "s1", "s3", "s4", "s5", "s6", "s8"]
    assert {name for name in ("s2", "s7") for one in told if f"'{name}'" in str(one.message)} == {"s2", "s7"}


def test_where_no_series_can_be_forecast_the_first_says_why(tmp_path, artifact, history):
    source = source_of(history.with_columns(y=pl.lit(float("inf"))), tmp_path)
    with pytest.raises(MissingValues, match=r"'s0'.*infinite"):
        predict_in_parts(source, artifact, InStore(folder=tmp_path / "work"))
    assert not [path for path in tmp_path.iterdir() if path.is_dir() and path != artifact]


def test_a_frame_without_its_columns_is_refused(tmp_path, artifact, history):
    with pytest.raises(ColumnMissing):
        predict_in_parts(source_of(history.drop("y"), tmp_path), artifact, InStore(folder=tmp_path / "work"))


def test_a_store_that_stands_in_the_folder_is_left_as_it_is(tmp_path, artifact, history):
    source, way = source_of(history, tmp_path), InStore(folder=tmp_path / "store")
    prepare_source(source, DataContract(), way)
    before = {file.name: file.read_bytes() for file in (tmp_path / "store").iterdir()}
    predict_in_parts(source, artifact, way)
    assert {file.name: file.read_bytes() for file in (tmp_path / "store").iterdir()} == before
