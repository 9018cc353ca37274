"""A model as a contender: its own context and levels, and the forecasts that it gives to anyone."""

from collections.abc import Callable

import numpy as np
import pytest

from forecast.batch import cut_windows
from forecast.frames.panel import Panel
from forecast.predictor import Predictor
from pipelines.contender import ModelContender
from pipelines.evaluation import Contender, forecast_windows
from tests.tiny_model import CONTEXT_LENGTH, HORIZON, tiny_artifact, tiny_model


@pytest.fixture(scope="module")
def panel(panel_of: Callable[..., Panel]) -> Panel:
    steps = np.arange(60)
    wave = np.sin(steps / 3)
    wave[50:53] = np.nan
    return panel_of(wave=wave, line=steps / 60)


def test_a_model_is_a_contender_with_its_own_context_and_levels() -> None:
    contender = ModelContender(tiny_model())
    assert isinstance(contender, Contender)
    assert contender.context_length == CONTEXT_LENGTH
    assert contender.quantile_levels == (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)


def test_a_point_model_has_no_levels() -> None:
    assert ModelContender(tiny_model(head={"kind": "mse"})).quantile_levels == ()


def test_its_forecast_is_the_one_that_users_get(panel: Panel) -> None:
    artifact = tiny_artifact()
    series = np.arange(len(panel))
    own = forecast_windows(
        ModelContender(artifact.model), panel, series=series, origins=panel.lengths[series], horizon=HORIZON
    )
    users = Predictor(artifact).predict_panel(panel)
    np.testing.assert_array_equal(own.mean, users.mean)
    np.testing.assert_array_equal(own.quantiles, users.quantiles)
    assert own.quantile_levels == users.quantile_levels


def test_which_series_a_window_is_of_changes_nothing(panel: Panel) -> None:
    contender = ModelContender(tiny_model().eval())
    zeros, ones = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    batch = cut_windows(panel, series=zeros, origins=np.array([40]), context_length=CONTEXT_LENGTH, horizon=0)
    of_one = contender.forecast(batch, series=zeros, horizon=HORIZON)
    of_other = contender.forecast(batch, series=ones, horizon=HORIZON)
    np.testing.assert_array_equal(of_one.mean, of_other.mean)
