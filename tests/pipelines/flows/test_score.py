"""Scoring: all test windows whatever the batch size, beside the baselines, and none sees what follows its origin."""

from dataclasses import replace

import numpy as np
import pytest

from forecast.errors import SeriesTooShort
from forecast.forecast import Forecast
from forecast.frames.panel import Panel
from forecast.model.transformer import ForecastModel
from pipelines.config import RunConfig
from pipelines.contender import ModelContender
from pipelines.evaluation import forecast_windows
from pipelines.flows.backtest import fit_baselines
from pipelines.flows.draw import draw
from pipelines.flows.result import BacktestResult
from pipelines.flows.score import MODEL, score_model, scored_windows
from tests.tiny_model import tiny_model
from tests.tiny_run import tiny_config

ORIGIN = 165  # in the test part, which begins at step 160
CLOSE = 1e-5  # relative: what one window's forecast may differ by between batches


@pytest.fixture(scope="module")
def model() -> ForecastModel:
    return tiny_model(horizon=8).eval()


@pytest.fixture(scope="module")
def config() -> RunConfig:
    return tiny_config(backtest={})


@pytest.fixture(scope="module")
def result(config: RunConfig, waves: Panel, model: ForecastModel) -> BacktestResult:
    return score_model(config, waves, model)


def changed_after(panel: Panel, step: int) -> Panel:
    values, observed = panel.values.copy(), panel.observed.copy()
    for first, end in zip(panel.offsets[:-1], panel.offsets[1:], strict=True):
        values[first + step : end] = -1e6
        observed[first + step + 3 : end] = False
    return replace(panel, values=values, observed=observed)


def test_the_model_comes_first_and_the_configured_baselines_follow(result: BacktestResult) -> None:
    assert list(result) == [MODEL, "last_value", "seasonal_naive", "linear"]


def test_every_test_window_is_scored(result: BacktestResult, config: RunConfig, waves: Panel) -> None:
    assert result.num_windows == len(scored_windows(config, waves)) == 2 * (40 - 8 + 1)


@pytest.mark.parametrize("batch_size", [1, 7])
def test_no_figure_depends_on_the_batch_size(batch_size: int, waves: Panel, model: ForecastModel) -> None:
    of_all, of_few = (
        score_model(tiny_config(backtest={"batch_size": size, "stride": 4}), waves, model) for size in (64, batch_size)
    )
    assert of_few.num_windows == of_all.num_windows == 2 * 9
    for name in of_all:
        assert of_few[name].overall() == pytest.approx(of_all[name].overall(), rel=CLOSE)
        for metric, values in of_all[name].by_step().items():
            np.testing.assert_allclose(of_few[name].by_step()[metric], values, rtol=CLOSE)


def test_a_stride_thins_the_windows(waves: Panel, model: ForecastModel) -> None:
    assert score_model(tiny_config(backtest={"stride": 16}), waves, model).num_windows == 2 * 3


def test_nothing_after_an_origin_changes_a_forecast_made_at_it(
    config: RunConfig, waves: Panel, model: ForecastModel
) -> None:
    before, after = (_forecasts(config, panel, model) for panel in (waves, changed_after(waves, ORIGIN)))
    assert list(before) == [MODEL, "last_value", "seasonal_naive", "linear"]
    for name, forecast in before.items():
        np.testing.assert_array_equal(forecast.mean, after[name].mean)
        np.testing.assert_array_equal(forecast.quantiles, after[name].quantiles)


def _forecasts(config: RunConfig, panel: Panel, model: ForecastModel) -> dict[str, Forecast]:
    """Forecasts at one origin of each series by everyone who is scored."""
    parts = config.split.cut(panel, horizon=8)
    own = ModelContender(model)
    baselines = fit_baselines(
        config.backtest.baselines,
        panel,
        ends=parts.train_end,
        units=np.ones(len(panel)),
        context_length=model.config.draft_context,
        horizon=8,
        quantile_levels=own.quantile_levels,
    )
    place = {"series": np.arange(len(panel)), "origins": np.full(len(panel), ORIGIN), "horizon": 8}
    return {name: forecast_windows(contender, panel, **place) for name, contender in {MODEL: own, **baselines}.items()}


def test_a_split_without_test_windows_is_refused_with_what_it_needs(waves: Panel, model: ForecastModel) -> None:
    with pytest.raises(SeriesTooShort, match="a test part needs 8 steps"):
        score_model(tiny_config(split={"kind": "fraction", "train": 0.9, "validation": 0.1}), waves, model)


def test_a_point_model_is_scored_by_points(config: RunConfig, waves: Panel) -> None:
    point = score_model(config, waves, tiny_model(horizon=8, head={"kind": "mse"}).eval())
    assert "wql" not in point[MODEL].overall()
    assert np.isfinite(point[MODEL].overall()["mase"])


def test_pictures_show_the_first_the_middle_and_the_last_window_and_the_error(
    config: RunConfig, waves: Panel, model: ForecastModel, result: BacktestResult
) -> None:
    figures = draw(config, waves, model, result)
    assert list(figures) == ["forecasts", "error_by_horizon"]
    assert len(figures["forecasts"].axes) == 3


def test_a_single_window_is_a_single_picture(waves: Panel, model: ForecastModel) -> None:
    config = tiny_config(backtest={"stride": 100})
    one = waves.select([0])
    figures = draw(config, one, model, score_model(config, one, model))
    assert len(figures["forecasts"].axes) == 1
