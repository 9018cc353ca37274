"""A backtest sets forecasters side by side over the same windows, as a table, as JSON and as a verdict."""

import io
import json
from collections.abc import Callable

import numpy as np
import pytest
from rich.console import Console

from forecast.baselines import LastValue, Linear, SeasonalNaive
from forecast.config import build_config, to_plain
from forecast.errors import ConfigError
from forecast.frames.panel import Panel
from forecast.metrics import SeriesScales
from pipelines.flows.backtest import BacktestConfig, backtest, fit_baselines
from pipelines.flows.result import BacktestResult
from pipelines.windows import WindowIndex

HORIZON, TRAIN, STEPS = 6, 300, 360
LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


@pytest.fixture(scope="module")
def panel(panel_of: Callable) -> Panel:
    steps = np.arange(STEPS)
    daily = np.sin(steps * 2 * np.pi / 24) + 0.1 * np.random.default_rng(1).normal(size=STEPS)
    return panel_of(wave=daily, constant=np.full(STEPS, 4.0))


@pytest.fixture(scope="module")
def baselines(panel: Panel):
    return fit(BacktestConfig().baselines, panel)


@pytest.fixture(scope="module")
def result(panel: Panel, baselines) -> BacktestResult:
    return run(panel, baselines)


def fit(baselines, panel: Panel, *, levels: tuple[float, ...] = LEVELS):
    ends = np.full(len(panel), TRAIN)
    settings = {"context_length": 20, "horizon": HORIZON, "quantile_levels": levels}
    return fit_baselines(baselines, panel, ends=ends, units=np.ones(len(panel)), **settings)


def run(panel: Panel, contenders) -> BacktestResult:
    ends = np.full(len(panel), TRAIN)
    index = WindowIndex(first=ends, last=np.full(len(panel), STEPS - HORIZON), ends=np.full(len(panel), STEPS))
    scales = SeriesScales.measure(panel, ends=ends, units=np.ones(len(panel)), season_length=24)
    return backtest(contenders, panel, index, horizon=HORIZON, scales=scales)


def test_every_baseline_has_its_row_and_its_own_context(result: BacktestResult, baselines):
    assert list(result) == ["last_value", "seasonal_naive", "linear"]
    assert {name: fitted.context_length for name, fitted in baselines.items()} == {
        "last_value": 20,
        "seasonal_naive": 24,
        "linear": 20,
    }
    assert result.num_windows == 2 * (STEPS - HORIZON - TRAIN + 1)


def test_on_a_daily_wave_the_seasonal_naive_beats_the_last_value(result: BacktestResult):
    assert result["seasonal_naive"].better_than(result["last_value"], "mase")
    assert not result["last_value"].better_than(result["seasonal_naive"], "wql")


def test_a_series_without_scale_is_left_out_and_said_to_be(result: BacktestResult):
    assert result["linear"].num_excluded("mase") == 1
    assert "MASE leaves out 1 series without a scale" in str(result)


def test_the_text_has_a_line_for_every_forecaster_and_fits_a_log(result: BacktestResult):
    lines = str(result).splitlines()
    assert all(sum(name in line for line in lines) == 1 for name in result)
    assert max(len(line) for line in lines) <= 120
    assert "110 windows of 6 steps, 2 series" in str(result)
    assert "in 80 %" in str(result)
    assert "in 90 %" not in str(result)


def test_the_best_figure_of_a_column_is_bold(result: BacktestResult):
    console = Console(record=True, width=120, force_terminal=True, file=io.StringIO())
    console.print(result)
    styled = console.export_text(styles=True)
    best = min(result[name].overall()["mase"] for name in result)
    assert f"\x1b[1m{best:.3f}\x1b[0m" in styled


def test_plain_holds_every_figure_and_survives_json(result: BacktestResult):
    plain = json.loads(json.dumps(result.to_plain(), allow_nan=False))
    linear = plain["forecasters"]["linear"]
    assert linear["overall"] == pytest.approx(result["linear"].overall())
    assert [row["id"] for row in linear["by_series"]] == ["constant", "wave"]
    assert linear["by_series"][0]["metrics"]["mase"] is None
    assert len(linear["by_step"]["coverage_90"]) == HORIZON
    assert linear["num_excluded"]["mase"] == 1


def test_an_unknown_forecaster_is_named_with_those_there_are(result: BacktestResult):
    with pytest.raises(ConfigError, match="last_value, seasonal_naive, linear"):
        result["modle"]


def test_forecasters_at_different_levels_are_refused(panel: Panel, baselines):
    others = fit([LastValue()], panel, levels=(0.2, 0.8))
    with pytest.raises(ConfigError, match="same quantile levels"):
        run(panel, {"a": others["last_value"], "b": baselines["linear"]})


def test_a_backtest_of_nothing_is_refused(panel: Panel):
    with pytest.raises(ConfigError, match="at least one"):
        run(panel, {})


def test_the_same_baseline_twice_is_refused(panel: Panel):
    with pytest.raises(ConfigError, match="listed once"):
        fit([SeasonalNaive(), SeasonalNaive()], panel)


def test_the_configuration_goes_through_plain_and_back():
    chosen = BacktestConfig(baselines=(SeasonalNaive(season_length=168), Linear(context_length=504)), stride=3)
    assert build_config(BacktestConfig, to_plain(chosen)) == chosen


def test_the_season_of_mase_is_that_of_the_frequency_unless_given(panel: Panel):
    assert BacktestConfig().season_for(panel) == 24
    assert BacktestConfig(season_length=7).season_for(panel) == 7
