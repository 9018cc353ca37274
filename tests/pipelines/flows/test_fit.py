"""Fitting: the same seed gives the same weights, and nothing that is held out reaches them."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from forecast.errors import SeriesTooShort, TrainingError
from forecast.frames.panel import Panel
from pipelines.config import RunConfig
from pipelines.flows.fit import Fitted, fit_panel
from tests.tiny_run import tiny_config

TRAIN_END, VALIDATION_END = 140, 160


@pytest.fixture(scope="module")
def config() -> RunConfig:
    return tiny_config("trainer.stride=2", "trainer.validation_stride=3", "trainer.batch_size=64")


@pytest.fixture(scope="module")
def fitted(config: RunConfig, waves: Panel, tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    return fit_panel(config, waves, folder=tmp_path_factory.mktemp("run"))


def weights(fitted: Fitted) -> dict[str, bytes]:
    return {name: tensor.numpy().tobytes() for name, tensor in fitted.model.state_dict().items()}


def corrupted(panel: Panel, *, start: int) -> Panel:
    """The panel with other values from a step of each series on."""
    values = panel.values.copy()
    for first, end in zip(panel.offsets[:-1], panel.offsets[1:], strict=True):
        values[first + start : end] = 1e6 * np.arange(end - first - start)
    return replace(panel, values=values)


def test_a_fitted_model_is_ready_to_forecast_on_the_cpu(fitted: Fitted) -> None:
    assert not fitted.model.training
    assert {tensor.device.type for tensor in fitted.model.state_dict().values()} == {"cpu"}
    assert all(bool(tensor.isfinite().all()) for tensor in fitted.model.state_dict().values())
    assert fitted.parts.train_end.tolist() == [TRAIN_END, TRAIN_END]


def test_the_same_seed_gives_the_same_weights_and_another_gives_others(
    config: RunConfig, fitted: Fitted, waves: Panel, tmp_path: Path
) -> None:
    again = fit_panel(config, waves, folder=tmp_path / "again")
    other = fit_panel(replace(config, seed=2), waves, folder=tmp_path / "other")
    assert weights(again) == weights(fitted)
    assert weights(other) != weights(fitted)


def test_the_test_part_reaches_no_weight(config: RunConfig, fitted: Fitted, waves: Panel, tmp_path: Path) -> None:
    leaky = fit_panel(config, corrupted(waves, start=VALIDATION_END), folder=tmp_path / "again")
    assert weights(leaky) == weights(fitted)
    assert leaky.fit.epochs == fitted.fit.epochs


def test_the_validation_part_chooses_the_epoch_and_reaches_neither_draft_nor_training(
    config: RunConfig, fitted: Fitted, waves: Panel, tmp_path: Path
) -> None:
    other = fit_panel(config, corrupted(waves, start=TRAIN_END), folder=tmp_path / "again")
    assert weights(other)["draft.weights"] == weights(fitted)["draft.weights"]
    losses = [[epoch["train_loss"] for epoch in fit.epochs] for fit in (fitted.fit, other.fit)]
    assert losses[0] == losses[1]
    assert fitted.fit.epochs[0]["validation_loss"] != other.fit.epochs[0]["validation_loss"]


def test_every_epoch_is_told_as_it_ends(config: RunConfig, waves: Panel, tmp_path: Path) -> None:
    told: list[tuple[int, dict[str, float]]] = []
    fitted = fit_panel(config, waves, folder=tmp_path, on_epoch=lambda epoch, metrics: told.append((epoch, metrics)))
    assert [epoch for epoch, _ in told] == [0, 1]
    assert [metrics for _, metrics in told] == fitted.fit.epochs
    assert {"train_loss", "validation_loss", "learning_rate"} <= set(told[0][1])


def test_everything_written_lies_in_the_folder(
    config: RunConfig, waves: Panel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    fit_panel(config, waves, folder=tmp_path / "run")
    assert not list((tmp_path / "cwd").iterdir())
    assert [file.name for file in (tmp_path / "run").rglob("*") if file.is_file()] == ["best.ckpt"]


def test_training_is_quiet(config: RunConfig, waves: Panel, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit_panel(config, waves, folder=tmp_path)
    assert [str(warning.message) for warning in caught] == []
    assert capfd.readouterr() == ("", "")


def test_a_model_without_a_draft_needs_none(waves: Panel, tmp_path: Path) -> None:
    fitted = fit_panel(tiny_config("model.draft=null", "trainer.max_steps=2"), waves, folder=tmp_path)
    assert fitted.model.draft is None


def test_nothing_to_train_on_is_refused(waves: Panel, tmp_path: Path) -> None:
    stub = tiny_config("split={kind: steps, train: 1, validation: 20, test: 20}")
    with pytest.raises(SeriesTooShort, match="training"):
        fit_panel(stub, waves, folder=tmp_path)


def test_nothing_to_judge_epochs_by_is_refused_unless_training_is_to_judge(waves: Panel, tmp_path: Path) -> None:
    blind = ("split={kind: fraction, train: 0.8, validation: 0}", "trainer.max_steps=2")
    with pytest.raises(TrainingError, match="no validation window"):
        fit_panel(tiny_config(*blind), waves, folder=tmp_path)
    by_training = fit_panel(tiny_config(*blind, "trainer.monitor=train_loss"), waves, folder=tmp_path)
    assert "validation_loss" not in by_training.fit.epochs[0]
