"""The drive of every accuracy figure: one forecaster over all windows, batch by batch."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np
from jaxtyping import Int64

from forecast.batch import Batch, cut_windows
from forecast.forecast import Forecast
from forecast.frames.panel import Panel
from forecast.metrics import Comparison, Scores, SeriesScales, standard_metrics
from pipelines.windows import WindowIndex

T = TypeVar("T")

BATCH_SIZE = 256  # windows: 1.5 MB of context at 720 steps, and past the point where Python's share of the time shows

Track = Callable[[Sequence[T]], Iterable[T]]
"""Passes on what it is given, batch by batch, and shows how far it is: for example `rich.progress.track`."""


@runtime_checkable
class Contender(Protocol):
    """Anything whose forecasts can be scored: a model made ready, or a fitted baseline."""

    @property
    def context_length(self) -> int:
        """Steps of past that it is to be given."""

    @property
    def quantile_levels(self) -> tuple[float, ...]:
        """Levels of the quantiles that it gives; empty for points alone."""

    def forecast(self, batch: Batch, *, series: Int64[np.ndarray, " batch"], horizon: int) -> Forecast:
        """Forecast the windows of a batch from their past; `series` numbers the series of each in the panel."""


def evaluate(
    contender: Contender,
    panel: Panel,
    windows: WindowIndex,
    *,
    horizon: int,
    scales: SeriesScales,
    quantile_levels: tuple[float, ...] | None = None,
    batch_size: int = BATCH_SIZE,
    track: Track = iter,
) -> Scores:
    """Score every window, none dropped; the scores are the same for every batch size, to the contender's own rounding.

    `quantile_levels` are the levels scored: those of the contender unless given. A contender of points is scored at
    them as a distribution without spread.
    """
    levels = contender.quantile_levels if quantile_levels is None else quantile_levels
    scores = Scores(standard_metrics(levels), num_series=len(panel), horizon=horizon)
    for numbers in track(list(windows.batches(batch_size))):
        series, origins = windows.locate(numbers)
        batch = cut_windows(
            panel,
            series=series,
            origins=origins,
            context_length=contender.context_length,
            horizon=horizon,
            units=scales.unit,
        )
        in_part = origins[:, None] + np.arange(horizon) < windows.ends[series, None]
        comparison = Comparison(
            forecast=contender.forecast(_without_future(batch), series=series, horizon=horizon),
            actual=batch.future.numpy(),
            observed=batch.future_observed.numpy() & in_part,
            unit=scales.unit[series],
            seasonal_scale=scales.seasonal[series],
        )
        scores.add(comparison, series=series)
    return scores


def forecast_windows(
    contender: Contender,
    panel: Panel,
    *,
    series: Int64[np.ndarray, " batch"],
    origins: Int64[np.ndarray, " batch"],
    horizon: int,
) -> Forecast:
    """Forecast chosen windows; `origins` counts steps from the start of each series to the first step forecast."""
    batch = cut_windows(
        panel,
        series=series,
        origins=origins,
        context_length=contender.context_length,
        horizon=0,
        known_horizon=horizon,
    )
    return contender.forecast(batch, series=series, horizon=horizon)


def _without_future(batch: Batch) -> Batch:
    """What is scored is out of reach of whoever forecasts it."""
    return replace(batch, future=batch.future[:, :0], future_observed=batch.future_observed[:, :0], weight=None)
