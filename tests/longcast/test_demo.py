"""The demo runs the whole job from any folder, talks to a real service, and leaves nothing but its runs."""

import shutil
from pathlib import Path

import pytest

from forecast.config import load_config
from longcast.cli import main
from longcast.demo import own_config
from pipelines.config import RunConfig

# The draft alone beats the seasonal naive; training is cut short and few windows are scored.
SHORT = ("trainer.max_epochs=1", "trainer.max_steps=2", "trainer.validation_stride=96", "backtest.stride=96")


def test_the_demo_finds_its_own_configuration(repository: Path) -> None:
    assert own_config() == repository / "configs" / "demo.yaml"
    assert load_config(RunConfig, own_config()).source.describe().name == "sea_surface_temperature"


@pytest.mark.e2e
@pytest.mark.slow
def test_the_demo_runs_anywhere_and_leaves_only_its_runs(
    repository: Path,
    ready_store: Path,
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "runs").mkdir()
    shutil.copy(ready_store, tmp_path / "runs" / "mlflow.db")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(repository))
    cached = set(cache.rglob("*"))

    assert main(["demo", *(part for change in SHORT for part in ("--set", change))]) == 0

    printed = capsys.readouterr().out
    assert printed.startswith("sea_surface_temperature: sea surface temperature at buoy B01")
    assert "sea_surface_temperature/1 is champion: " in printed
    assert "forecast over HTTP equals the library's: largest relative difference " in printed
    assert "demo finished in " in printed
    assert [entry.name for entry in tmp_path.iterdir()] == ["runs"]
    assert set(cache.rglob("*")) == cached
