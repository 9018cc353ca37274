"""Pictures show what came, the forecast and its intervals, and the error of every forecaster, readably."""

import io
from collections.abc import Callable
from datetime import timedelta

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.dates import num2date

from forecast.forecast import Forecast
from forecast.frames.panel import Panel
from forecast.metrics import Comparison, Scores, standard_metrics
from pipelines.flows.result import BacktestResult
from pipelines.pictures import error_by_horizon, fan_chart

LEVELS = (0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95)
HORIZON, CONTEXT, STEPS = 12, 24, 60
ORIGINS = np.array([40, 10])


@pytest.fixture
def panel(panel_of: Callable) -> Panel:
    values = np.arange(float(STEPS))
    values[42] = np.nan
    return panel_of(every=timedelta(minutes=30), a=values, b=values * 2)


@pytest.fixture
def forecast() -> Forecast:
    middle = np.full((2, HORIZON, 1), 40.0)
    quantiles = middle + np.arange(len(LEVELS)) - 3.0
    return Forecast(mean=middle[:, :, 0], quantiles=quantiles, quantile_levels=LEVELS)


@pytest.fixture
def result() -> BacktestResult:
    return BacktestResult(ids=("a",), horizon=HORIZON, scores={"model": scores(1.0), "seasonal_naive": scores(2.0)})


def scores(error: float) -> Scores:
    gathered = Scores(standard_metrics(()), num_series=1, horizon=HORIZON)
    growing = error * np.arange(1.0, HORIZON + 1)[None]
    everything = np.ones((1, HORIZON), dtype=bool)
    forecast = Forecast(mean=growing, quantiles=np.empty((1, HORIZON, 0)), quantile_levels=())
    actual = np.zeros((1, HORIZON))
    gathered.add(
        Comparison(forecast=forecast, actual=actual, observed=everything, unit=np.ones(1), seasonal_scale=np.ones(1)),
        series=np.zeros(1, dtype=np.int64),
    )
    return gathered


def fan(panel: Panel, forecast: Forecast):
    settings = {"series": np.array([0, 1]), "origins": ORIGINS, "context_length": CONTEXT}
    return fan_chart(panel, forecast, target="temperature (°C)", **settings)


def test_the_actual_line_breaks_where_nothing_was_observed(panel: Panel, forecast: Forecast):
    line = fan(panel, forecast).axes[0].get_lines()[1]
    expected = np.arange(40.0 - CONTEXT, 40 + HORIZON)
    expected[42 - (40 - CONTEXT)] = np.nan
    np.testing.assert_array_equal(line.get_ydata(), expected)


def test_history_before_the_start_of_a_series_is_not_drawn(panel: Panel, forecast: Forecast):
    line = fan(panel, forecast).axes[1].get_lines()[1]
    assert len(line.get_ydata()) == 10 + HORIZON


def test_the_forecast_stands_at_the_stamps_of_its_steps(panel: Panel, forecast: Forecast):
    line = fan(panel, forecast).axes[0].get_lines()[0]
    dates = num2date(line.get_xdata(orig=False))
    assert dates[0].strftime("%Y-%m-%d %H:%M") == "2024-01-01 20:00"
    assert dates[1] - dates[0] == timedelta(minutes=30)
    np.testing.assert_array_equal(line.get_ydata(), np.full(HORIZON, 40.0))


def test_every_axis_and_every_band_is_named(panel: Panel, forecast: Forecast):
    figure = fan(panel, forecast)
    assert [ax.get_ylabel() for ax in figure.axes] == ["temperature (°C)"] * 2
    assert figure.axes[-1].get_xlabel() == "time"
    named = {text.get_text() for text in figure.legends[0].get_texts()}
    assert named == {"90 % interval", "40 % interval", "forecast (median)", "actual"}
    assert figure.axes[0].get_title(loc="left") == "a, forecast from 2024-01-01 20:00"


def test_a_forecast_of_points_is_drawn_without_bands(panel: Panel, forecast: Forecast):
    points = Forecast(mean=forecast.mean, quantiles=np.empty((2, HORIZON, 0)), quantile_levels=())
    figure = fan(panel, points)
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"forecast (mean)", "actual"}


def test_every_forecaster_has_its_line_of_errors(result: BacktestResult):
    ax = error_by_horizon(result, step="30min").axes[0]
    assert [line.get_label() for line in ax.get_lines()] == ["model", "seasonal naive"]
    np.testing.assert_array_equal(ax.get_lines()[1].get_ydata(), 2 * np.arange(1, HORIZON + 1))
    assert ax.get_ylabel() == "MASE"
    assert ax.get_xlabel() == "horizon (steps of 30min)"


def test_forecasters_are_told_apart_without_colour(result: BacktestResult):
    lines = error_by_horizon(result, step="h").axes[0].get_lines()
    assert len({line.get_linestyle() for line in lines}) == len(lines)


def test_pictures_need_no_window_system_and_leave_no_state_in_pyplot(panel: Panel, forecast: Forecast, result):
    import matplotlib.pyplot as plt

    for figure in (fan(panel, forecast), error_by_horizon(result, step="h")):
        assert isinstance(figure.canvas, FigureCanvasAgg)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png")
        assert buffer.getvalue().startswith(b"\x89PNG")
    assert plt.get_fignums() == []


@pytest.mark.parametrize("step", [1, 60, 900, 3600, 86_400, 7 * 86_400, 31 * 86_400, 366 * 86_400])
def test_dates_are_labelled_readably_whatever_the_step(panel_of: Callable, forecast: Forecast, step: int):
    panel = panel_of(every=timedelta(seconds=step), a=np.arange(float(STEPS)))
    figure = fan_chart(panel, forecast, series=np.array([0, 0]), origins=ORIGINS, context_length=CONTEXT)
    figure.savefig(io.BytesIO(), format="png")
    labels = [label.get_text() for label in figure.axes[0].get_xticklabels()]
    assert 2 <= len(labels) <= 12
    assert all(len(label) <= 8 for label in labels)


@pytest.mark.parametrize("dtype", ["integer", "zoned"])
def test_integer_time_and_zones_are_labelled_as_they_are(forecast: Forecast, dtype: str):
    import polars as pl

    from forecast.frames.contract import DataContract, prepare

    steps = {
        "integer": pl.Series(range(STEPS)),
        "zoned": pl.datetime_range(pl.datetime(2024, 3, 30), pl.datetime(2024, 4, 1), "1h", time_zone="UTC", eager=True)
        .dt.convert_time_zone("Europe/Berlin")
        .head(STEPS),
    }[dtype]
    frame = pl.DataFrame({"unique_id": "a", "ds": steps, "y": pl.Series(range(len(steps)), dtype=pl.Float64)})
    panel = prepare(frame, DataContract()).panel
    figure = fan_chart(panel, forecast, series=np.array([0, 0]), origins=np.array([20, 30]), context_length=20)
    assert figure.axes[-1].get_xlabel() == {"integer": "step", "zoned": "time (Europe/Berlin)"}[dtype]
    figure.savefig(io.BytesIO(), format="png")
