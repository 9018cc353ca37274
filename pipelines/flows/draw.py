"""Draw: pictures of a scored model: a few of its forecasts, its error at each horizon step, what it looks at."""

import numpy as np
from matplotlib.figure import Figure

from forecast.frames.panel import Panel
from forecast.inspect.look import Part
from forecast.inspect.maps import AttentionMaps, panel_maps, token_steps
from forecast.model.transformer import ForecastModel
from pipelines.attention_pictures import heat_maps
from pipelines.config import RunConfig
from pipelines.contender import ModelContender
from pipelines.evaluation import forecast_windows
from pipelines.flows.result import BacktestResult
from pipelines.flows.score import scored_windows
from pipelines.pictures import error_by_horizon, fan_chart

NUM_PICTURED = 3  # windows in the picture of forecasts: more rows are not read

MOST_QUERIES = 128  # rows of a heat map: more are not seen, and weights of a long context take memory

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


def draw_attention(panel: Panel, model: ForecastModel) -> dict[str, Figure]:
    """Draw what each part of the model looks at while it forecasts the first series from its end; by name."""
    parts: tuple[Part, ...] = ("encoder", "decoder", "cross")
    if model.encoder.mixing is not None:
        parts = (*parts, "channels")
    names = () if panel.channels is None else panel.channels.names
    return {
        f"attention_{part}": heat_maps(_maps(panel, model, part), channels=names if part == "channels" else ())
        for part in parts
    }


def _maps(panel: Panel, model: ForecastModel, part: Part) -> AttentionMaps:
    """Give the maps of as many queries as a picture shows, spread evenly over all."""
    length = min(model.config.context_length, int(panel.lengths[0]))
    count = len(token_steps(model, part, context_length=length)[0])
    chosen = np.linspace(0, count - 1, num=min(count, MOST_QUERIES)).round().astype(np.int64)
    return panel_maps(model, panel, 0, part=part, queries=chosen.tolist(), context_length=length)
