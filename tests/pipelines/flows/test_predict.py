"""Predicting with a registered model or one on disk: which is meant, what it gives, and in which file."""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from forecast.artifact import save_artifact
from forecast.errors import ArtifactError, ConfigError, ModelNotFound, SourceError
from forecast.predictor import Predictor
from pipelines.flows.predict import load_predictor, predict, write_frame
from tests.tiny_model import HORIZON, tiny_artifact, tiny_history
from tests.tiny_run import NAME, TinyChampion, tiny_config


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_artifact(tiny_artifact(), tmp_path / "artifact")


@pytest.fixture
def history(tmp_path: Path) -> Path:
    tiny_history().write_parquet(tmp_path / "history.parquet")
    return tmp_path / "history.parquet"


def test_the_configured_data_are_forecast_from_their_end(folder: Path, history: Path) -> None:
    config = tiny_config(data={"kind": "files", "paths": str(history)})
    answer = predict(config, reference=str(folder))
    assert_frame_equal(answer, Predictor.load(folder).predict(tiny_history()))
    assert answer.height == 2 * HORIZON


def test_data_that_are_prepared_in_parts_are_forecast_in_parts(folder: Path, history: Path, tmp_path: Path) -> None:
    preparation = f"preparation={{kind: store, folder: {tmp_path / 'store'}, num_partitions: 2}}"
    config = tiny_config(preparation, data={"kind": "files", "paths": str(history)})
    answer = predict(config, reference=str(folder), horizon=3)
    assert_frame_equal(answer, Predictor.load(folder).predict(tiny_history(), horizon=3), rel_tol=1e-5)


def test_what_is_asked_for_is_passed_on(folder: Path, history: Path) -> None:
    config = tiny_config(data={"kind": "files", "paths": str(history)})
    answer = predict(config, reference=str(folder), horizon=2, level=80)
    assert answer.columns == ["unique_id", "ds", "mean", "0.1", "0.9"]
    assert answer.height == 2 * 2
    with pytest.raises(ConfigError, match="say the same in two ways"):
        predict(config, reference=str(folder), level=80, quantile_levels=0.5)


def test_by_default_the_champion_is_meant(champion: TinyChampion, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("LONGCAST_CACHE_DIR", str(tmp_path))
    assert load_predictor(champion.config).card.name == NAME
    assert load_predictor(champion.config, reference=f"{NAME}/1").card == load_predictor(champion.config).card
    with pytest.raises(ModelNotFound, match="no version 9"):
        load_predictor(champion.config, reference=f"{NAME}/9")


def test_a_folder_without_a_model_is_no_reference(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no artifact at"):
        load_predictor(tiny_config(), reference=str(tmp_path))


@pytest.mark.parametrize(
    ("name", "read"),
    [("f.csv", pl.read_csv), ("f.parquet", pl.read_parquet), ("f.ARROW", pl.read_ipc), ("f.json", pl.read_json)],
)
def test_a_frame_is_written_in_the_format_of_its_ending(name: str, read, tmp_path: Path) -> None:
    frame = tiny_history(zone="Europe/Berlin").with_columns(pl.col("ds").dt.to_string("iso:strict"))
    write_frame(frame, tmp_path / "new" / name)
    assert_frame_equal(read(tmp_path / "new" / name), frame)


@pytest.mark.parametrize("name", ["forecast", "forecast.xlsx", "forecast.csv.gz"])
def test_an_ending_that_says_no_known_format_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"one of \.csv, \.parquet, \.arrow, \.json"):
        write_frame(tiny_history(), tmp_path / "new" / name)
    assert not list(tmp_path.iterdir())
