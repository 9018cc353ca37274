"""The training flow: its run's page holds everything, and only what beats the seasonal naive becomes champion."""

import json
import math
from pathlib import Path

import mlflow
import polars as pl
import pytest
import yaml
from mlflow.entities import Run

from forecast.artifact import load_artifact
from forecast.config import build_config, flatten, to_plain
from forecast.errors import ConfigError, DuplicateSteps, SeriesTooShort
from forecast.frames.contract import prepare
from forecast.frames.digest import panel_digest
from forecast.registry import CHAMPION, Registry
from pipelines.config import RunConfig
from pipelines.flows.sample import sample
from pipelines.flows.train import Trained, train
from pipelines.sources import SineSource
from tests.tiny_model import tiny_history
from tests.tiny_run import HORIZON, NAME, TinyChampion, tiny_config

FORECASTERS = ("longcast", "last_value", "seasonal_naive", "linear")


@pytest.fixture(scope="module")
def run(champion: TinyChampion) -> Run:
    return mlflow.MlflowClient(tracking_uri=champion.config.tracking_uri).get_run(champion.version.run_id)


@pytest.fixture(scope="module")
def files(run: Run) -> Path:
    return Path(run.info.artifact_uri.removeprefix("file://"))


@pytest.fixture(scope="module")
def declined(champion: TinyChampion) -> Trained:
    """The same run beside a seasonal naive that knows the season of the sine, which nobody beats."""
    season = "backtest.baselines=[{kind: seasonal_naive, season_length: 200}]"
    place = (f"tracking.uri={champion.config.tracking_uri}", f"output={champion.config.output}")
    return train(tiny_config(*place, season, "trainer.max_epochs=1"))


def points(champion: TinyChampion, metric: str) -> dict[int, float]:
    client = mlflow.MlflowClient(tracking_uri=champion.config.tracking_uri)
    return {entry.step: entry.value for entry in client.get_metric_history(champion.version.run_id, metric)}


# ---- The run's page


def test_the_page_holds_the_configuration_flat_and_as_a_run_to_repeat(
    champion: TinyChampion, run: Run, files: Path
) -> None:
    assert run.info.status == "FINISHED"
    assert run.data.params == {name: str(value) for name, value in flatten(to_plain(champion.config)).items()}
    assert run.data.params["model.layer.d_model"] == "8"
    assert build_config(RunConfig, yaml.safe_load((files / "configuration.yaml").read_text())) == champion.config


def test_the_page_holds_the_digest_of_the_data(run: Run) -> None:
    (logged,) = run.inputs.dataset_inputs
    assert logged.dataset.name == "sine"
    assert logged.dataset.digest == panel_digest(prepare(SineSource().read()).panel)


def test_the_page_holds_figures_by_epoch(champion: TinyChampion) -> None:
    for metric in ("train_loss", "validation_loss", "learning_rate"):
        assert sorted(points(champion, metric)) == [0, 1]
        assert all(math.isfinite(value) for value in points(champion, metric).values())


@pytest.mark.parametrize("forecaster", FORECASTERS)
def test_the_page_holds_figures_by_horizon_step_beside_the_baselines(forecaster: str, champion: TinyChampion) -> None:
    kept = json.loads((champion.folder / "backtest.json").read_text())["forecasters"][forecaster]
    for metric in ("mase", "wql", "mse", "coverage_80"):
        by_step = points(champion, f"by_step/{forecaster}/{metric}")
        assert by_step == pytest.approx(dict(enumerate(kept["by_step"][metric], start=1)))
        assert sorted(by_step) == list(range(1, HORIZON + 1))
        assert points(champion, f"backtest/{forecaster}/{metric}")[0] == pytest.approx(kept["overall"][metric])


def test_the_page_holds_pictures_and_tables(files: Path) -> None:
    pictures = sorted((files / "pictures").iterdir())
    assert [picture.name for picture in pictures] == ["error_by_horizon.png", "forecasts.png"]
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)
    assert all(name in (files / "backtest.txt").read_text() for name in FORECASTERS)


def test_the_model_has_an_explicit_signature_and_no_pickle(champion: TinyChampion) -> None:
    uri = f"models:/{NAME}/1"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", champion.config.tracking_uri)
        info = mlflow.models.get_model_info(uri)
        place = Path(mlflow.artifacts.download_artifacts(uri))
    assert info.signature.inputs.input_names() == ["unique_id", "ds", "y"]
    assert info.signature.outputs.input_names()[:3] == ["unique_id", "ds", "mean"]
    assert {parameter.name for parameter in info.signature.params} == {"horizon", "quantile_levels"}
    assert not [file for file in place.rglob("*") if file.suffix in (".pkl", ".pickle", ".pt", ".ckpt", ".bin")]


def test_the_folder_holds_the_model_the_backtest_and_the_checkpoint(champion: TinyChampion) -> None:
    found = {str(file.relative_to(champion.folder)) for file in champion.folder.rglob("*") if file.is_file()}
    artifact = {f"artifact/{name}" for name in ("artifact.json", "weights.safetensors", "configuration.yaml")}
    assert found == {*artifact, "backtest.json", "checkpoints/best.ckpt"}
    figures = load_artifact(champion.folder / "artifact").card.backtest
    kept = json.loads((champion.folder / "backtest.json").read_text())["forecasters"]["longcast"]["overall"]
    assert figures == pytest.approx(kept)


# ---- The verdict


def test_a_model_that_beats_the_seasonal_naive_becomes_champion(champion: TinyChampion) -> None:
    assert champion.version.aliases == (CHAMPION,)
    assert champion.version.tags["decision"] == "promoted"
    assert [reason.split()[0] for reason in champion.version.tags["reasons"].splitlines()] == ["mase", "wql"]


def test_a_model_that_does_not_is_registered_and_declined_with_reasons(
    champion: TinyChampion, declined: Trained
) -> None:
    registry = Registry(champion.config.tracking_uri)
    assert not declined.decision.passed
    version = registry.resolve(declined.version.reference)
    assert (version.version, version.aliases) == (2, ())
    assert version.tags == {"decision": "declined", "reasons": "\n".join(declined.decision.reasons)}
    assert "mase" in version.tags["reasons"]
    assert "not below" in version.tags["reasons"]
    assert registry.resolve(NAME).version == 1


def test_what_training_says_names_the_verdict_and_the_folder(declined: Trained) -> None:
    told = str(declined)
    assert f"{NAME}/2 is not promoted: " in told
    assert told.endswith(f"run folder: {declined.folder}")
    assert "longcast" in told


# ---- What stops a run before it costs anything


def test_a_run_without_the_rival_is_refused_before_it_reads(tmp_path: Path) -> None:
    config = tiny_config(
        f"output={tmp_path}", "backtest.baselines=[{kind: last_value}]", "data={kind: files, paths: absent.csv}"
    )
    with pytest.raises(ConfigError, match=r"add it: \{kind: seasonal_naive\}") as refused:
        train(config)
    assert refused.value.field == "backtest.baselines"
    assert not list(tmp_path.iterdir())


def test_a_split_without_test_windows_is_refused_before_training(tmp_path: Path) -> None:
    with pytest.raises(SeriesTooShort, match="no test window"):
        train(tiny_config(f"output={tmp_path}", "split={kind: fraction, train: 0.9, validation: 0.1}"))
    assert not list(tmp_path.iterdir())


def test_data_that_break_the_contract_are_refused_before_training(tmp_path: Path) -> None:
    history = tiny_history()
    history.vstack(history.head(1)).write_csv(tmp_path / "twice.csv")
    with pytest.raises(DuplicateSteps):
        train(tiny_config(f"output={tmp_path / 'runs'}", data={"kind": "files", "paths": str(tmp_path / "twice.csv")}))
    assert not (tmp_path / "runs").exists()


def test_a_sample_is_what_a_caller_would_send() -> None:
    history = tiny_history().with_columns(note=pl.lit("x")).select("y", "note", "ds", "unique_id")
    sent = sample(prepare(history), num_steps=5, horizon=3)
    assert sent.columns == ["unique_id", "ds", "y"]
    assert sent["unique_id"].to_list() == ["a"] * 5
    assert sent["ds"][-1] == history.filter(unique_id="a")["ds"][-1]
