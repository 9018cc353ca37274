"""Fitting models that transform: the transform is fitted, the draft solved and losses measured on what they see."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from forecast.artifact import load_artifact, save_artifact
from forecast.batch import cut_newest
from forecast.errors import DataError
from forecast.forecast import Forecast
from forecast.frames.contract import DataContract, prepare
from forecast.frames.panel import Panel
from forecast.model.transformer import ForecastModel
from pipelines.flows.fit import Fitted, build_artifact, fit_panel
from tests.tiny_model import tiny_history
from tests.tiny_run import HORIZON, tiny_config

SHORT = ("trainer.max_steps=2", "trainer.stride=5", "trainer.validation_stride=5")
POWER = "model.transform={kind: box_cox}"
TRANSFORMS = {
    "log1p": (),
    "box_cox": (),
    "arcsinh": (),
    "difference": ("model.draft=null", "model.transform.lag=24"),
}


@pytest.fixture(scope="module")
def positive(waves: Panel) -> Panel:
    """The waves where every transform can take them, one series a thousand times the other."""
    number = np.repeat(np.arange(2), waves.lengths)
    return replace(waves, values=np.exp(waves.values / np.array([1.0, 10.0])[number]))


def fit(panel: Panel, folder: Path, *overrides: str) -> Fitted:
    return fit_panel(tiny_config(*SHORT, *overrides), panel, folder=folder)


def forecast(model: ForecastModel, panel: Panel) -> Forecast:
    windows = cut_newest(panel, series=np.arange(len(panel)), context_length=model.config.context_length)
    return model.forecast(windows.past, windows.past_observed, horizon=HORIZON)


@pytest.mark.parametrize("kind", TRANSFORMS)
def test_a_model_of_every_transform_trains_and_forecasts(kind: str, positive: Panel, tmp_path: Path) -> None:
    fitted = fit(positive, tmp_path, f"model.transform={{kind: {kind}}}", *TRANSFORMS[kind])
    assert all(np.isfinite(list(epoch.values())).all() for epoch in fitted.fit.epochs)
    assert np.isfinite(forecast(fitted.model, positive).quantiles).all()


def test_the_power_is_fitted_on_the_training_part_alone(positive: Panel, tmp_path: Path) -> None:
    fitted = fit(positive, tmp_path / "one", POWER)
    values = positive.values.copy()
    for first in positive.offsets[:-1]:
        values[first + 160 : first + 200] = 1e5
    leaky = fit(replace(positive, values=values), tmp_path / "other", POWER)
    assert 0 <= fitted.model.state_dict()["transform.power"].item() < 0.5
    assert all(torch.equal(one, leaky.model.state_dict()[name]) for name, one in fitted.model.state_dict().items())


def test_losses_are_measured_in_the_spread_of_the_transformed_series(positive: Panel, tmp_path: Path) -> None:
    fitted = fit(positive, tmp_path, "model.transform={kind: box_cox, power: 0}")
    logs = np.log(positive.values)
    expected = [logs[first : first + 140].std() for first in positive.offsets[:-1]]
    np.testing.assert_allclose(fitted.units, expected)


def test_the_draft_is_solved_on_what_the_transform_gives(panel_of: Callable[..., Panel], tmp_path: Path) -> None:
    """Growth by a fixed share is a straight line of logarithms, which a draft continues by itself."""
    growing = panel_of(a=100 * 1.02 ** np.arange(220.0), b=7 * 1.05 ** np.arange(220.0))
    known = growing.select([0, 1])
    barely = ("trainer.optimizer.learning_rate=1e-12", "model.draft={kind: ridge, level: newest, strength: 1e-9}")
    fitted = fit(known, tmp_path, "model.transform={kind: box_cox, power: 0}", "model.head={kind: mae}", *barely)
    expected = [100 * 1.02 ** np.arange(220.0, 220 + HORIZON), 7 * 1.05 ** np.arange(220.0, 220 + HORIZON)]
    np.testing.assert_allclose(forecast(fitted.model, known).mean, expected, rtol=1e-4)


def test_series_with_values_that_cannot_be_taken_are_named_before_training(waves: Panel, tmp_path: Path) -> None:
    low = replace(waves, values=waves.values - 1)
    with pytest.raises(DataError, match=r"series 'a': the target has .* values that the transform 'log1p' cannot take"):
        fit(low, tmp_path, "model.transform={kind: log1p}")
    assert not list(tmp_path.iterdir())


def test_a_fitted_transform_is_saved_and_loaded_with_the_model(tmp_path: Path) -> None:
    prepared = prepare(tiny_history(num_steps=200), DataContract())
    config = tiny_config(*SHORT, POWER)
    fitted = fit_panel(config, prepared.panel, folder=tmp_path / "run")
    folder = save_artifact(build_artifact(config, prepared, fitted), tmp_path / "artifact")
    loaded = load_artifact(folder).model
    assert loaded.state_dict()["transform.power"].item() == fitted.model.state_dict()["transform.power"].item()
    before, after = (forecast(model, prepared.panel) for model in (fitted.model, loaded))
    np.testing.assert_array_equal(after.mean, before.mean)
    np.testing.assert_array_equal(after.quantiles, before.quantiles)
