"""Each verb does on the command line what it says: train, predict, backtest, promote."""

import io
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from forecast.artifact import load_artifact
from forecast.config import load_config
from forecast.predictor import Predictor
from forecast.registry import CHAMPION, Registry
from longcast.cli import main
from longcast.hints import compare_runs
from pipelines.config import RunConfig
from pipelines.sources import SineSource
from tests.tiny_model import tiny_history
from tests.tiny_run import HORIZON, NAME, TinyChampion

Printed = pytest.CaptureFixture[str]


@pytest.fixture
def own(champion: TinyChampion) -> Predictor:
    """The model that the run has kept on disk."""
    return Predictor(load_artifact(champion.folder / "artifact"))


def run(*arguments: object) -> None:
    assert main([str(argument) for argument in arguments]) == 0


# ---- train


def test_training_prints_what_was_read_how_it_did_and_what_became_of_it(champion: TinyChampion) -> None:
    assert champion.status == 0
    lines = champion.printed.splitlines()
    assert lines[0] == "10,000 rows, 1 series, 10,000 steps of 1, 0 to 9999"
    assert "100 windows of 8 steps, 1 series" in champion.printed
    assert [line for line in lines if line.startswith(f"{NAME}/1 is champion: mase ")]
    assert lines[-2:] == [f"run folder: {champion.folder}", compare_runs(champion.config.tracking_uri)]


def test_training_complains_of_nothing(champion: TinyChampion) -> None:
    assert champion.complained == ""


# ---- predict


def test_a_forecast_goes_to_stdout_as_csv(champion: TinyChampion, own: Predictor, capsys: Printed) -> None:
    run("predict", champion.file, "--horizon", 3, "--quantiles", 0.5, 0.1)
    printed = pl.read_csv(io.StringIO(capsys.readouterr().out))
    assert printed.columns == ["unique_id", "ds", "mean", "0.1", "0.5"]
    assert printed["ds"].to_list() == [10_000, 10_001, 10_002]
    expected = own.predict(SineSource().read(), horizon=3, quantile_levels=[0.1, 0.5])
    assert_frame_equal(printed, expected)


def test_a_level_asks_for_the_quantiles_that_bound_it(champion: TinyChampion, capsys: Printed) -> None:
    run("predict", champion.file, "--level", 80, 95)
    of_level = capsys.readouterr().out
    run("predict", champion.file, "--quantiles", 0.025, 0.1, 0.9, 0.975)
    assert of_level == capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "read"),
    [("f.csv", pl.read_csv), ("f.parquet", pl.read_parquet), ("f.arrow", pl.read_ipc), ("f.json", pl.read_json)],
)
def test_a_forecast_goes_to_a_file_of_the_format_that_its_name_asks_for(
    name: str, read, champion: TinyChampion, own: Predictor, tmp_path: Path, capsys: Printed
) -> None:
    run("predict", champion.file, "--output", tmp_path / "new" / name)
    assert capsys.readouterr().out == ""
    assert_frame_equal(read(tmp_path / "new" / name), own.predict(SineSource().read()), check_dtypes=False)


def test_an_unknown_format_is_refused_with_those_there_are(champion: TinyChampion, tmp_path: Path, capsys: Printed):
    assert main(["predict", str(champion.file), "--output", str(tmp_path / "forecast.xlsx")]) == 1
    assert ".csv, .parquet, .arrow, .json" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("reference", [NAME, f"{NAME}/1", f"{NAME}@champion", "folder"])
def test_a_model_is_meant_by_name_version_alias_or_folder(
    reference: str, champion: TinyChampion, capsys: Printed
) -> None:
    meant = champion.folder / "artifact" if reference == "folder" else reference
    run("predict", champion.file, "--model", meant, "--horizon", 1)
    by_reference = capsys.readouterr().out
    run("predict", champion.file, "--horizon", 1)
    assert by_reference == capsys.readouterr().out


def test_a_series_without_a_forecast_is_a_line_on_stderr(
    champion: TinyChampion, tmp_path: Path, capsys: Printed
) -> None:
    known, unknown = SineSource().read().tail(40), SineSource().read().tail(40)
    unknown = unknown.with_columns(unique_id=pl.lit("silent"), y=pl.lit(None, pl.Float64))
    pl.concat([known, unknown]).write_csv(tmp_path / "both.csv")
    run("predict", champion.file, "--set", f"data={{kind: files, paths: {tmp_path / 'both.csv'}}}", "--horizon", 1)
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 2
    assert printed.err.startswith("longcast predict: 1 series have no forecast: series 'silent': none of its newest")
    assert printed.err.count("\n") == 1


def test_data_of_another_frequency_are_refused(champion: TinyChampion, tmp_path: Path, capsys: Printed) -> None:
    tiny_history().write_csv(tmp_path / "hourly.csv")
    data = f"data={{kind: files, paths: {tmp_path / 'hourly.csv'}}}"
    assert main(["predict", str(champion.file), "--set", data]) == 1
    assert "frequency" in capsys.readouterr().err


# ---- backtest


def test_a_backtest_prints_writes_and_draws_what_training_found(
    champion: TinyChampion, tmp_path: Path, capsys: Printed
) -> None:
    run("backtest", champion.file, "--json", tmp_path / "a" / "b.json", "--pictures", tmp_path / "pictures")
    assert capsys.readouterr().out.strip() in champion.printed
    assert json.loads((tmp_path / "a" / "b.json").read_text()) == json.loads(
        (champion.folder / "backtest.json").read_text()
    )
    pictures = sorted((tmp_path / "pictures").iterdir())
    assert [picture.name for picture in pictures] == ["error_by_horizon.png", "forecasts.png"]
    assert all(picture.read_bytes().startswith(b"\x89PNG") for picture in pictures)


def test_folds_train_anew_and_print_a_table_each(champion: TinyChampion, capsys: Printed) -> None:
    run("backtest", champion.file, "--folds", 2, "--set", "trainer.max_epochs=1")
    printed = capsys.readouterr().out
    assert [line for line in printed.splitlines() if line.startswith("fold ")] == ["fold 1 of 2", "fold 2 of 2"]
    assert printed.count("seasonal_naive") == 2


def test_what_has_no_effect_on_folds_is_refused(champion: TinyChampion, tmp_path: Path, capsys: Printed) -> None:
    assert main(["backtest", str(champion.file), "--folds", "2", "--json", str(tmp_path / "figures.json")]) == 1
    assert "leave out --json" in capsys.readouterr().err


def test_a_backtest_scores_the_model_at_the_horizon_of_the_configuration(
    champion: TinyChampion, tmp_path: Path
) -> None:
    longer = ["--set", f"model.horizon={2 * HORIZON}", "--set", "backtest.stride=200"]
    run("backtest", champion.file, "--json", tmp_path / "scores.json", *longer)
    scores = json.loads((tmp_path / "scores.json").read_text())
    assert len(scores["forecasters"]["longcast"]["by_step"]["mse"]) == 2 * HORIZON


# ---- promote


def test_a_person_promotes_a_version_and_says_why(champion: TinyChampion, capsys: Printed) -> None:
    run("promote", champion.file, "--model", f"{NAME}/1", "--reason", "seen by Ada")
    assert capsys.readouterr().out == f"{NAME}/1 is champion\n"
    promoted = Registry(champion.config.tracking_uri).resolve(NAME)
    assert (promoted.version, promoted.aliases) == (1, (CHAMPION,))
    assert promoted.tags == {"decision": "promoted", "reasons": "seen by Ada"}


def test_a_version_that_is_not_there_is_not_promoted(champion: TinyChampion, capsys: Printed) -> None:
    assert main(["promote", str(champion.file), "--model", f"{NAME}/99", "--reason", "hope"]) == 1
    assert f"no version 99 of a model '{NAME}'" in capsys.readouterr().err


# ---- a fresh process


@pytest.mark.e2e
@pytest.mark.slow
def test_the_champion_of_the_command_line_loads_in_a_fresh_process(
    champion: TinyChampion, own: Predictor, repository: Path, tmp_path: Path
) -> None:
    history = SineSource().read().tail(50)
    history.write_csv(tmp_path / "history.csv")
    code = f"""
import sys, mlflow, pandas
mlflow.set_tracking_uri({champion.config.tracking_uri!r})
model = mlflow.pyfunc.load_model("models:/{NAME}@champion")
assert model.metadata.signature.inputs.input_names() == ["unique_id", "ds", "y"], model.metadata.signature
model.predict(pandas.read_csv({str(tmp_path / "history.csv")!r})).to_csv(sys.stdout, index=False)
"""
    environment = {"PATH": "", "PYTHONPATH": str(repository), "CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    answer = pl.read_csv(io.StringIO(done.stdout[done.stdout.index("unique_id") :]))
    assert_frame_equal(answer, own.predict(history), rel_tol=1e-5)


def test_the_configuration_that_training_kept_is_itself_a_run(champion: TinyChampion) -> None:
    assert load_config(RunConfig, champion.folder / "artifact" / "configuration.yaml") == champion.config
