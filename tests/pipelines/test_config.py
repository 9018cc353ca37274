"""A run configuration: one YAML file says a complete run, and what it does not say has a stated default."""

from pathlib import Path

import pytest
import yaml

from forecast.config import build_config, load_config, to_plain
from forecast.errors import ConfigError
from pipelines.config import RunConfig
from pipelines.sources import SineSource
from pipelines.split import FractionSplit

SMALLEST = {"name": "waves", "model": {"context_length": 24, "horizon": 6}}


def test_a_name_and_a_model_are_a_run_that_is_handed_its_frame() -> None:
    config = build_config(RunConfig, SMALLEST)
    assert (config.split, config.seed, config.output) == (FractionSplit(), 1, Path("runs"))
    with pytest.raises(ConfigError, match="name a source") as refused:
        _ = config.source
    assert refused.value.field == "data"


def test_the_example_in_the_message_about_missing_data_is_itself_right() -> None:
    with pytest.raises(ConfigError) as refused:
        _ = build_config(RunConfig, SMALLEST).source
    example = str(refused.value).partition("for example ")[2]
    assert build_config(RunConfig, {**SMALLEST, "data": yaml.safe_load(example)}).source.describe().name


def test_the_source_is_the_configured_one() -> None:
    assert build_config(RunConfig, SMALLEST, overrides=["data.kind=sine"]).source == SineSource()


def test_runs_are_tracked_in_the_output_folder_unless_said_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert build_config(RunConfig, SMALLEST).tracking_uri == f"sqlite:///{tmp_path}/runs/mlflow.db"
    elsewhere = build_config(RunConfig, SMALLEST, overrides=["tracking.uri=http://mlflow:5000"])
    assert elsewhere.tracking_uri == "http://mlflow:5000"


@pytest.mark.parametrize("name", ["", "two words", "a/b", "../up", "a@b", "-x"])
def test_a_name_that_cannot_be_a_folder_and_a_reference_is_refused(name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        build_config(RunConfig, {**SMALLEST, "name": name})
    assert refused.value.field == "name"


@pytest.mark.parametrize(
    ("override", "field"),
    [
        ("modle.horizon=3", "modle"),
        ("model.decoder.kind=magic", "model.decoder"),
        ("model.layer.num_heads=0", "model.layer.num_heads"),
        ("split.kind=steps", "split.train"),
        ("backtest.baselines=[{kind: last_value, sason: 3}]", "backtest.baselines.0.sason"),
        ("trainer.optimizer.learning_rate=.inf", "trainer.optimizer.learning_rate"),
    ],
)
def test_what_does_not_fit_is_told_by_its_dotted_path(override: str, field: str) -> None:
    with pytest.raises(ConfigError) as refused:
        build_config(RunConfig, SMALLEST, overrides=[override])
    assert refused.value.field == field
    assert str(refused.value).startswith(f"{field}: ")


@pytest.mark.parametrize("name", ["demo", "etth1", "sine"])
def test_a_configuration_survives_being_written_and_read(name: str, repository: Path, tmp_path: Path) -> None:
    config = load_config(RunConfig, repository / "configs" / f"{name}.yaml")
    (tmp_path / "again.yaml").write_text(yaml.safe_dump(to_plain(config)))
    assert load_config(RunConfig, tmp_path / "again.yaml") == config
