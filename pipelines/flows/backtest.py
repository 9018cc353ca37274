"""Backtest: a model beside the baselines, every one over the same windows."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Float64, Int64
from pydantic import PositiveInt

from forecast.baselines import Baseline, BaselineContract, FittedBaseline, LastValue, Linear, SeasonalNaive
from forecast.config import config
from forecast.errors import ConfigError
from forecast.frames.panel import Panel
from forecast.metrics import SeriesScales
from pipelines.evaluation import BATCH_SIZE, Contender, Track, evaluate
from pipelines.flows.result import BacktestResult
from pipelines.windows import WindowIndex


@config
class BacktestConfig:
    """What a model is read beside, and over which windows."""

    baselines: tuple[Baseline, ...] = (LastValue(), SeasonalNaive(), Linear())
    """Forecasters without gradient steps; each is fitted on the training part."""

    season_length: PositiveInt | None = None
    """Steps of the season whose differences scale MASE; None takes the one that is usual at the panel's frequency."""

    stride: PositiveInt = 1
    """Steps from one window's origin to the next; 1 scores every window."""

    batch_size: PositiveInt = BATCH_SIZE
    """Windows forecast together; it changes no figure."""

    def season_for(self, panel: Panel) -> int:
        """Give the steps of the season whose differences scale MASE."""
        return self.season_length or panel.axis.frequency.season_length


def fit_baselines(
    baselines: Sequence[BaselineContract],
    panel: Panel,
    *,
    ends: Int64[np.ndarray, " series"],
    units: Float64[np.ndarray, " series"],
    context_length: int,
    horizon: int,
    quantile_levels: tuple[float, ...],
) -> dict[str, FittedBaseline]:
    """Fit each baseline on the steps before `ends`, beside a model that reads `context_length` steps.

    Raises:
        ConfigError: two baselines have the same name.
    """
    names = [baseline.name for baseline in baselines]
    if len(set(names)) < len(names):
        raise ConfigError(f"each baseline is to be listed once; the list is {', '.join(names)}", field="baselines")
    return {
        baseline.name: baseline.fit(
            panel,
            ends=ends,
            units=units,
            context_length=baseline.context_for(panel, context_length=context_length),
            horizon=horizon,
            quantile_levels=quantile_levels,
        )
        for baseline in baselines
    }


def backtest(
    contenders: Mapping[str, Contender],
    panel: Panel,
    windows: WindowIndex,
    *,
    horizon: int,
    scales: SeriesScales,
    batch_size: int = BATCH_SIZE,
    track: Track = iter,
) -> BacktestResult:
    """Score each contender over every window; one that gives points alone is scored at the levels of the others.

    Raises:
        ConfigError: there is no contender, or two give quantiles at different levels.
    """
    levels = _levels(contenders)
    scores = {
        name: evaluate(
            contender,
            panel,
            windows,
            horizon=horizon,
            scales=scales,
            quantile_levels=levels,
            batch_size=batch_size,
            track=track,
        )
        for name, contender in contenders.items()
    }
    return BacktestResult(ids=panel.ids, horizon=horizon, scores=scores)


def _levels(contenders: Mapping[str, Contender]) -> tuple[float, ...]:
    if not contenders:
        raise ConfigError("a backtest needs at least one forecaster to score")
    levels = {contender.quantile_levels for contender in contenders.values() if contender.quantile_levels}
    if len(levels) > 1:
        raise ConfigError(f"forecasters are scored at the same quantile levels; they give {sorted(levels)}")
    return next(iter(levels), ())
