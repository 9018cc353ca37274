"""Score: a trained model beside the configured baselines, over every test window of a panel."""

from forecast.errors import SeriesTooShort
from forecast.frames.panel import Panel
from forecast.metrics import SeriesScales
from forecast.model.transformer import ForecastModel
from pipelines.config import RunConfig
from pipelines.contender import ModelContender
from pipelines.evaluation import Contender, Track
from pipelines.flows.backtest import backtest, fit_baselines
from pipelines.flows.result import BacktestResult
from pipelines.split import Parts, train_units
from pipelines.windows import WindowIndex, test_windows

MODEL = "longcast"
"""Name of the model's row in backtests."""


def score_model(
    config: RunConfig, panel: Panel, model: ForecastModel, *, parts: Parts | None = None, track: Track = iter
) -> BacktestResult:
    """Score the model and the configured baselines over every test window, none dropped.

    `parts` are those of the configured split unless given.

    Raises:
        SeriesTooShort: the split leaves no test window.
    """
    horizon = config.model.horizon
    parts = parts or config.split.cut(panel, horizon=horizon)
    windows = scored_windows(config, panel, parts=parts)
    units = train_units(panel, parts.train_end)
    scales = SeriesScales.measure(
        panel, ends=parts.train_end, units=units, season_length=config.backtest.season_for(panel)
    )
    own = ModelContender(model)
    contenders: dict[str, Contender] = {MODEL: own}
    contenders |= fit_baselines(
        config.backtest.baselines,
        panel,
        ends=parts.train_end,
        units=units,
        context_length=model.config.draft_context,
        horizon=horizon,
        quantile_levels=own.quantile_levels,
    )
    return backtest(
        contenders, panel, windows, horizon=horizon, scales=scales, batch_size=config.backtest.batch_size, track=track
    )


def scored_windows(config: RunConfig, panel: Panel, *, parts: Parts | None = None) -> WindowIndex:
    """Give the windows that a backtest scores; `parts` are those of the configured split unless given.

    Raises:
        SeriesTooShort: the split leaves no test window.
    """
    parts = parts or config.split.cut(panel, horizon=config.model.horizon)
    windows = test_windows(parts, horizon=config.model.horizon, stride=config.backtest.stride)
    if len(windows) == 0:
        raise SeriesTooShort(
            f"there is no test window: a test part needs {config.model.horizon} steps, the horizon; give longer "
            f"series, or a split with a larger test part"
        )
    return windows
