"""Draw: pictures of a scored model: a few of its forecasts, and its error at each horizon step."""

import numpy as np
from matplotlib.figure import Figure

from forecast.frames.panel import Panel
from forecast.model.transformer import ForecastModel
from pipelines.config import RunConfig
from pipelines.contender import ModelContender
from pipelines.evaluation import forecast_windows
from pipelines.flows.result import BacktestResult
from pipelines.flows.score import scored_windows
from pipelines.pictures import error_by_horizon, fan_chart

NUM_PICTURED = 3  # windows in the picture of forecasts: more rows are not read

CONTEXT_PICTURED = 4  # horizons of the past that are drawn before each forecast: more, and the forecast is a sliver


def draw(config: RunConfig, panel: Panel, model: ForecastModel, result: BacktestResult) -> dict[str, Figure]:
    """Draw forecasts of a few test windows, spread evenly over all, and the error by horizon step; by name."""
    windows, horizon = scored_windows(config, panel), config.model.horizon
    numbers = np.linspace(0, len(windows) - 1, num=min(NUM_PICTURED, len(windows)), dtype=np.int64)
    series, origins = windows.locate(numbers)
    forecast = forecast_windows(ModelContender(model), panel, series=series, origins=origins, horizon=horizon)
    context = min(model.config.context_length, CONTEXT_PICTURED * horizon)
    return {
        "forecasts": fan_chart(panel, forecast, series=series, origins=origins, context_length=context),
        "error_by_horizon": error_by_horizon(result, step=panel.axis.frequency.text),
    }
