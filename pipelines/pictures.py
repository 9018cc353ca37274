"""Pictures of a backtest: forecasts with intervals over what came, and the error at each horizon step."""

from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
from jaxtyping import Float64, Int64
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from forecast.forecast import Forecast
from forecast.frames.panel import Panel
from pipelines.flows.result import BacktestResult

# Okabe & Ito, "Color Universal Design" (2008): told apart by every kind of colour vision, and in grey by their order.
BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
INK, MUTED, GRID = "#222222", "#6B6B6B", "#E3E3E3"
LINES = ((BLUE, "-"), (VERMILION, "--"), (GREEN, "-."), (PURPLE, ":"), (ORANGE, (0, (5, 1))), (SKY, (0, (1, 1))))
SHADES = (0.18, 0.32)  # opacity of the outer and of the inner interval: both remain apart from the line and the grid
WIDTH, ROW_HEIGHT, DPI = 9.0, 2.3, 150  # inches, inches a window, dots an inch


def fan_chart(
    panel: Panel,
    forecast: Forecast,
    *,
    series: Int64[np.ndarray, " window"],
    origins: Int64[np.ndarray, " window"],
    context_length: int,
    target: str = "y",
    title: str = "Forecasts over actual values",
) -> Figure:
    """Draw one window a row: `context_length` steps of history, the forecast with two central intervals, and what came.

    `forecast` holds the windows named by `series` and `origins` (steps from the start of each series to the first step
    forecast); `target` labels the axis of values.
    """
    figure = _figure(num_rows=len(series), title=title)
    axes = figure.subplots(len(series), 1, squeeze=False)[:, 0]
    for row, (ax, number, origin) in enumerate(zip(axes, series.tolist(), origins.tolist(), strict=True)):
        before = min(context_length, origin)
        place = {"first": origin - before, "count": before + forecast.mean.shape[1]}
        moments = _moments(panel, number, **place)
        _draw_forecast(ax, moments[before:], forecast, row)
        ax.plot(moments, _steps(panel, number, **place), color=INK, linewidth=1.0, label="actual")
        ax.axvline(moments[before], color=MUTED, linewidth=0.8, linestyle=(0, (2, 2)))
        title = f"{panel.ids[number]}, forecast from {_written(moments[before])}"
        ax.set_title(title, loc="left", fontsize=9, color=INK)
        ax.set_ylabel(target, fontsize=9)
        _dress(ax)
        _label_time(ax, panel)
    axes[-1].set_xlabel(_time_label(panel), fontsize=9)
    _legend(figure, axes[0])
    return figure


def error_by_horizon(result: BacktestResult, *, step: str, metric: str = "mase") -> Figure:
    """Draw `metric` at every horizon step of `step` each: one line a forecaster, the first the boldest."""
    figure = _figure(num_rows=2, title="Error by horizon")
    ax = figure.subplots()
    steps = np.arange(1, result.horizon + 1)
    for index, name in enumerate(result):
        color, line = LINES[index % len(LINES)]
        values = result[name].by_step()[metric]
        drawn = ax.plot(steps, values, color=color, linestyle=line, linewidth=2.0 if index == 0 else 1.4)[0]
        drawn.set_label(name.replace("_", " "))
        drawn.set_marker("o" if len(steps) == 1 else "")  # one point draws no line
    ax.set_xlabel(f"horizon (steps of {step})", fontsize=9)
    ax.set_ylabel(result[next(iter(result))].metrics[metric].label, fontsize=9)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 3, 6, 10]))
    ax.set_ylim(bottom=0)
    _dress(ax)
    _legend(figure, ax)
    return figure


def _moments(panel: Panel, number: int, *, first: int, count: int) -> list[int] | list[datetime]:
    numbers = np.full(count, number, dtype=np.int64)
    return panel.axis.moments_at(numbers, steps=np.arange(first, first + count)).to_list()


def _written(moment: int | datetime) -> str:
    return str(moment) if isinstance(moment, int) else moment.isoformat(sep=" ", timespec="minutes")


def _label_time(ax: Axes, panel: Panel) -> None:
    """Write dates as the zone of the data has them, not as that of the machine."""
    if panel.axis.stamp_type.dtype == pl.Int64:
        return
    zone = ZoneInfo(panel.axis.zone or "UTC")
    locator = AutoDateLocator(tz=zone)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=zone))


def _time_label(panel: Panel) -> str:
    if panel.axis.stamp_type.dtype == pl.Int64:
        return "step"
    return "time" if panel.axis.zone is None else f"time ({panel.axis.zone})"


def _draw_forecast(ax: Axes, times: Any, forecast: Forecast, row: int) -> None:
    levels = forecast.quantile_levels
    for opacity, lower in zip(SHADES, _intervals(levels), strict=False):
        low, high = (forecast.quantiles[row, :, levels.index(level)] for level in (lower, _mirror(lower)))
        ax.fill_between(times, low, high, color=BLUE, alpha=opacity, linewidth=0, label=_interval_label(lower))
    center, name = _center(forecast, row)
    ax.plot(times, center, color=BLUE, linewidth=1.6, label=name)


def _center(forecast: Forecast, row: int) -> tuple[Float64[np.ndarray, " horizon"], str]:
    if 0.5 in forecast.quantile_levels:
        return forecast.quantiles[row, :, forecast.quantile_levels.index(0.5)], "forecast (median)"
    return forecast.mean[row], "forecast (mean)"


def _intervals(levels: tuple[float, ...]) -> list[float]:
    """Lower levels of the widest central interval and of the one nearest to half its width, the outer first."""
    lowers = [level for level in levels if level < 0.5 and _mirror(level) in levels]
    if len(lowers) < 2:
        return lowers
    half = 0.5 - (0.5 - lowers[0]) / 2
    return [lowers[0], min(lowers[1:], key=lambda level: abs(level - half))]


def _mirror(level: float) -> float:
    return float(1 - Decimal(str(level)))


def _interval_label(lower: float) -> str:
    percent = (100 * (1 - 2 * Decimal(str(lower)))).normalize()
    return f"{percent:f} % interval"


def _steps(panel: Panel, number: int, *, first: int, count: int) -> Float64[np.ndarray, " {count}"]:
    """Give the actual values, NaN where there is none, so that a line breaks there."""
    place = panel.series(number)
    values = np.where(panel.observed[place], panel.values[place], np.nan)[first : first + count]
    return np.pad(values, (0, count - len(values)), constant_values=np.nan)


def _figure(*, num_rows: int, title: str) -> Figure:
    figure = Figure(figsize=(WIDTH, 1.0 + ROW_HEIGHT * num_rows), dpi=DPI, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)  # its own canvas: no window system, and no figure list of pyplot that grows in a service
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold", color=INK)
    return figure


def _dress(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED)
    ax.grid(axis="y", color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(colors=MUTED, labelcolor=INK, labelsize=8)
    ax.xaxis.get_offset_text().set_fontsize(8)
    ax.margins(x=0.01)


def _legend(figure: Figure, ax: Axes) -> None:
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels), frameon=False, fontsize=8)
