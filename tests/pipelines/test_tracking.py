"""A run's page in MLflow holds what it should, and the model logged on it serves in a fresh process."""

import json
import math
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import polars as pl
import pytest
import yaml
from matplotlib.figure import Figure
from mlflow.entities import Run

from forecast.artifact import Artifact
from forecast.errors import ModelNotFound, RegistryError
from forecast.forecast import Forecast
from forecast.frames.contract import prepare
from forecast.frames.digest import panel_digest
from forecast.metrics import Comparison, MeanSquaredError, Scores
from forecast.predictor import Predictor
from forecast.registry import ModelVersion, Registry
from pipelines.flows.result import BacktestResult
from pipelines.registration import decline, promote, register, requirements, signature_of
from pipelines.store import ensure_store
from pipelines.tracking import MAX_PARAMETER, track
from tests.tiny_model import HORIZON, tiny_artifact, tiny_history

CONFIGURATION = {
    "name": "tiny",
    "model": {"horizon": HORIZON, "levels": [0.1, 0.9]},
    "note": "x" * 10_000,
    "seed": None,
}
REASONS = ("MASE 0.5 against 0.9 of seasonal naive", "WQL 0.1 against 0.3")


@dataclass(frozen=True)
class Tracked:
    """What one complete run left behind."""

    uri: str
    run: Run
    version: ModelVersion
    artifact: Artifact
    files: Path


@pytest.fixture(scope="module")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store that is made once: making one takes MLflow seconds."""
    uri = f"sqlite:///{tmp_path_factory.mktemp('store') / 'mlflow.db'}"
    ensure_store(uri)
    return uri


@pytest.fixture(scope="module")
def tracked(empty_store: str) -> Tracked:
    artifact, prepared = tiny_artifact(), prepare(tiny_history())
    with track(empty_store, experiment="trials", name="first") as run:
        run.log_configuration(CONFIGURATION)
        run.log_data(prepared, name="waves", source={"kind": "files", "paths": ["waves.csv"]})
        for epoch in range(3):
            run.log_epoch(epoch, {"train_loss": 1 / (epoch + 1), "validation_loss": math.nan})
        run.log_backtest(some_result(), forecaster="longcast", headline="mse")
        run.log_picture(Figure(), "forecasts")
        version = register(run, artifact, sample=tiny_history())
    promote(Registry(empty_store), version, reasons=REASONS)
    logged = mlflow.MlflowClient(tracking_uri=empty_store).get_run(run.run_id)
    files = Path(logged.info.artifact_uri.removeprefix("file://"))
    return Tracked(empty_store, logged, Registry(empty_store).resolve("tiny"), artifact, files)


def some_result() -> BacktestResult:
    """Two forecasters over two windows of two series; the first step of series `b` never came."""
    scores = {}
    for name, error in (("longcast", 1.0), ("last_value", 2.0)):
        gathered = Scores([MeanSquaredError()], num_series=2, horizon=HORIZON)
        observed = np.ones((2, HORIZON), dtype=bool)
        observed[:, 0] = False
        comparison = Comparison(
            forecast=Forecast(np.full((2, HORIZON), error), np.empty((2, HORIZON, 0)), quantile_levels=()),
            actual=np.zeros((2, HORIZON)),
            observed=observed,
            unit=np.ones(2),
            seasonal_scale=np.ones(2),
        )
        gathered.add(comparison, series=np.array([0, 1]))
        scores[name] = gathered
    return BacktestResult(ids=("a", "b"), horizon=HORIZON, scores=scores)


def history_of(tracked: Tracked, metric: str) -> list[tuple[int, float]]:
    client = mlflow.MlflowClient(tracking_uri=tracked.uri)
    return [(entry.step, entry.value) for entry in client.get_metric_history(tracked.run.info.run_id, metric)]


def test_the_configuration_is_there_flat_and_whole(tracked: Tracked) -> None:
    parameters = tracked.run.data.params
    assert parameters["model.horizon"] == str(HORIZON)
    assert (parameters["model.levels"], parameters["seed"]) == ("[0.1, 0.9]", "None")
    assert len(parameters["note"]) == MAX_PARAMETER
    assert yaml.safe_load((tracked.files / "configuration.yaml").read_text()) == CONFIGURATION


def test_the_data_set_is_there_by_the_digest_of_its_content(tracked: Tracked) -> None:
    (logged,) = tracked.run.inputs.dataset_inputs
    assert (logged.dataset.name, logged.dataset.digest) == ("waves", panel_digest(prepare(tiny_history()).panel))
    assert json.loads(logged.dataset.source)["tags"] == {"kind": "files", "paths": "['waves.csv']"}
    assert json.loads((tracked.files / "data_report.json").read_text())["num_series"] == 2


def test_the_report_is_there_whole_as_text_and_as_tags_to_search_by(empty_store: str) -> None:
    prepared = prepare(tiny_history().with_row_index().filter(~pl.col("index").is_in([3, 70])).drop("index"))
    with track(empty_store, experiment="trials") as run:
        run.log_data(prepared, name="gappy", source={"kind": "files"})
    logged = mlflow.MlflowClient(tracking_uri=empty_store).get_run(run.run_id)
    files = Path(logged.info.artifact_uri.removeprefix("file://"))
    assert json.loads((files / "data_report.json").read_text()) == prepared.report.to_plain()
    assert (files / "data_report.txt").read_text() == str(prepared.report)
    tags = {name: value for name, value in logged.data.tags.items() if name.startswith("data.")}
    assert tags == {"data.rows": "118", "data.series": "2", "data.steps": "120", "data.gaps": "2"}


def test_figures_of_training_stand_at_their_epochs_and_undefined_ones_nowhere(tracked: Tracked) -> None:
    assert history_of(tracked, "train_loss") == [(0, 1.0), (1, 0.5), (2, pytest.approx(1 / 3))]
    assert "validation_loss" not in tracked.run.data.metrics


def test_the_headline_metric_is_the_first_by_name(tracked: Tracked) -> None:
    assert min(tracked.run.data.metrics) == "_mse"
    assert tracked.run.data.metrics["_mse"] == tracked.run.data.metrics["backtest/longcast/mse"] == 1.0


def test_figures_by_horizon_stand_at_their_steps_for_every_forecaster(tracked: Tracked) -> None:
    assert history_of(tracked, "by_step/longcast/mse") == [(step, 1.0) for step in range(2, HORIZON + 1)]
    assert history_of(tracked, "by_step/last_value/mse") == [(step, 4.0) for step in range(2, HORIZON + 1)]


def test_tables_and_pictures_are_there(tracked: Tracked) -> None:
    table = json.loads((tracked.files / "backtest_by_series.json").read_text())
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["data"]]
    assert rows[0] == {"forecaster": "longcast", "series": "a", "mse": 1.0}
    assert len(rows) == 4
    assert (tracked.files / "backtest.json").is_file()
    assert "last_value" in (tracked.files / "backtest.txt").read_text()
    assert (tracked.files / "pictures" / "forecasts.png").read_bytes().startswith(b"\x89PNG")


def test_the_run_says_which_library_made_it_and_is_finished(tracked: Tracked) -> None:
    assert tracked.run.info.status == "FINISHED"
    assert {"longcast.version", "longcast.commit"} <= set(tracked.run.data.tags)


def test_the_version_is_champion_with_its_reasons(tracked: Tracked) -> None:
    assert tracked.version.aliases == ("champion",)
    assert tracked.version.tags == {"decision": "promoted", "reasons": "\n".join(REASONS)}
    assert tracked.version.run_id == tracked.run.info.run_id


def test_a_logged_model_holds_no_pickle_and_names_what_it_needs(tracked: Tracked) -> None:
    model = tracked.files.parents[1] / "models" / tracked.version.model_id / "artifacts"
    names = {file.name for file in model.rglob("*") if file.is_file()}
    assert {"MLmodel", "artifact.json", "weights.safetensors", "pyfunc_model.py"} <= names
    assert not [name for name in names if name.endswith((".pkl", ".pickle", ".pt", ".bin"))]
    assert (model / "requirements.txt").read_text().splitlines() == requirements()


def test_the_signature_describes_long_frames(tracked: Tracked) -> None:
    signature = signature_of(tracked.artifact.card, tiny_history()).to_dict()
    inputs, outputs, parameters = (json.loads(signature[part]) for part in ("inputs", "outputs", "params"))
    assert [(column["name"], column["type"]) for column in inputs] == [
        ("unique_id", "string"), ("ds", "datetime"), ("y", "double"),
    ]  # fmt: skip
    assert [column["name"] for column in outputs][:4] == ["unique_id", "ds", "mean", "0.05"]
    assert [(parameter["name"], parameter["default"]) for parameter in parameters] == [
        ("horizon", HORIZON),
        ("quantile_levels", list(tracked.artifact.card.quantile_levels)),
    ]


@pytest.mark.parametrize(
    ("changed", "types"),
    [
        ({"ds": pl.int_range(pl.len()).over("unique_id")}, {"ds": "long"}),
        ({"ds": pl.col("ds").dt.to_string("%Y-%m-%d %H:%M")}, {"ds": "string"}),
        ({"ds": pl.col("ds").dt.replace_time_zone("UTC")}, {"ds": "string"}),
        ({"y": pl.col("y").cast(pl.Int64)}, {"y": "long"}),
        ({"unique_id": pl.col("unique_id").rank("dense").cast(pl.Int64)}, {"unique_id": "long"}),
    ],
)
def test_the_signature_follows_the_training_frame(changed: dict[str, pl.Expr], types: dict[str, str]) -> None:
    history = tiny_history().with_columns(**changed)
    inputs = json.loads(signature_of(tiny_artifact(history).card, history).to_dict()["inputs"])
    expected = {"unique_id": "string", "ds": "datetime", "y": "double"} | types
    assert {column["name"]: column["type"] for column in inputs} == expected


def test_a_point_model_is_logged_without_quantiles_and_a_zone_travels_as_text(empty_store: str, tmp_path: Path) -> None:
    history = tiny_history(zone="Europe/Berlin")
    artifact = tiny_artifact(history, head={"kind": "mse"})
    artifact = Artifact(artifact.model, replace(artifact.card, name="point"))
    with track(empty_store, experiment="trials") as run:
        version = register(run, artifact, sample=history)
        loaded = mlflow.pyfunc.load_model(f"models:/{version.reference}", dst_path=str(tmp_path))
    sent = history.with_columns(pl.col("ds").dt.to_string("iso:strict")).to_pandas()
    answer = loaded.predict(sent, params={"horizon": 2})
    assert list(answer.columns) == ["unique_id", "ds", "mean"]
    assert answer["ds"][0] == "2024-03-31T14:00:00+02:00"
    with pytest.raises(ModelNotFound, match="has no 'champion'"):
        Registry(empty_store).resolve("point")


def test_a_declined_version_leaves_the_champion_and_says_why(tracked: Tracked) -> None:
    with track(tracked.uri, experiment="trials") as run:
        version = register(run, tiny_artifact(), sample=tiny_history())
    decline(Registry(tracked.uri), version, reasons=["worse"])
    assert Registry(tracked.uri).resolve("tiny").version == tracked.version.version
    assert Registry(tracked.uri).resolve(version.reference).tags == {"decision": "declined", "reasons": "worse"}


def test_a_model_that_comes_back_otherwise_is_not_registered(empty_store: str) -> None:
    drifted = tiny_artifact()
    drifted = Artifact(drifted.model, replace(drifted.card, name="drifted"))
    # A hook lives in memory alone: what is saved forecasts something else than what was trained.
    drifted.model.decoder.output.register_forward_hook(lambda module, given, output: output + 1)
    with pytest.raises(RegistryError, match="was not registered"), track(empty_store, experiment="trials") as run:
        register(run, drifted, sample=tiny_history())
    with pytest.raises(ModelNotFound):
        Registry(empty_store).resolve("drifted/1")


def test_a_run_that_fails_is_marked_and_leaves_mlflow_as_it_was(empty_store: str) -> None:
    before = mlflow.get_tracking_uri()
    with pytest.raises(ZeroDivisionError), track(empty_store, experiment="trials") as run:
        1 / 0  # noqa: B018
    assert mlflow.MlflowClient(tracking_uri=empty_store).get_run(run.run_id).info.status == "FAILED"
    assert mlflow.active_run() is None
    assert mlflow.get_tracking_uri() == before


@pytest.mark.slow
def test_the_champion_serves_in_a_fresh_process_without_the_training_stack(tracked: Tracked, tmp_path: Path) -> None:
    tiny_history().write_csv(tmp_path / "history.csv")
    code = f"""
import sys, mlflow, pandas
mlflow.set_tracking_uri({tracked.uri!r})
model = mlflow.pyfunc.load_model("models:/tiny@champion")
history = pandas.read_csv({str(tmp_path / "history.csv")!r}, parse_dates=["ds"])
model.predict(history, params={{"horizon": 9}}).to_csv({str(tmp_path / "answer.csv")!r}, index=False)
assert not {{"lightning", "pytorch_lightning", "mlflow.pytorch"}} & set(sys.modules)
"""
    environment = {"PATH": "", "PYTHONPATH": str(Path(__file__).parents[2]), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answer = pd.read_csv(tmp_path / "answer.csv")
    expected = Predictor(tracked.artifact).predict(tiny_history().to_pandas(), horizon=9)
    np.testing.assert_allclose(
        answer.drop(columns=["unique_id", "ds"]), expected.drop(columns=["unique_id", "ds"]), rtol=1e-5
    )


@pytest.mark.slow
def test_processes_that_open_a_new_store_at_once_all_find_it_whole(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'new' / 'mlflow.db'}"
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        list(processes.map(ensure_store, [uri] * 2))
    assert Registry(uri).models() == ()
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == ["mlflow.db", "mlflow.db.lock"]
