"""Fit: from a panel to a trained model and its backtest; reads and logs nothing."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Float64
from lightning.pytorch import seed_everything

from forecast.frames.panel import Panel
from forecast.linear import fit_linear
from forecast.metrics import SeriesScales
from forecast.model.transformer import ForecastModel
from forecast.training.callbacks import OnEpoch
from forecast.training.fit import Fit, fit_model
from pipelines.config import RunConfig
from pipelines.contender import ModelContender
from pipelines.datamodule import WindowDataModule
from pipelines.evaluation import Contender, Track
from pipelines.flows.backtest import backtest, fit_baselines
from pipelines.flows.result import BacktestResult
from pipelines.split import Parts, train_units
from pipelines.windows import test_windows

MODEL = "longcast"
"""Name of the model's row in backtests."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained model with what it was trained on."""

    model: ForecastModel
    """In evaluation mode, on the CPU, with the best weights."""
    parts: Parts
    units: Float64[np.ndarray, " series"]
    fit: Fit


def fit_panel(
    config: RunConfig,
    panel: Panel,
    *,
    folder: Path,
    on_epoch: OnEpoch = lambda epoch, metrics: None,
    progress: bool = False,
) -> Fitted:
    """Train the configured model on the training part of a panel; the same seed gives the same weights on a CPU.

    Raises:
        SeriesTooShort: not one training window fits.
        TrainingError: nothing to judge epochs by, or no complete window for the draft.
    """
    seed_everything(config.seed, workers=True, verbose=False)
    model_config, trainer = config.model, config.trainer
    parts = config.split.cut(panel, horizon=model_config.horizon)
    units = train_units(panel, parts.train_end)
    windows = WindowDataModule(
        panel,
        parts,
        context_length=model_config.context_length,
        horizon=model_config.horizon,
        batch_size=trainer.batch_size,
        seed=config.seed,
        stride=trainer.stride,
        validation_stride=trainer.validation_stride,
    )
    model = ForecastModel(model_config)
    if model_config.draft is not None:
        model.install_draft(
            fit_linear(
                panel,
                ends=parts.train_end,
                units=units,
                context_length=model_config.draft_context,
                horizon=model_config.horizon,
                strength=model_config.draft.strength,
            )
        )
    fit = fit_model(
        model,
        train=windows.train_dataloader(),
        validation=next(iter(windows.val_dataloader()), None),
        config=trainer,
        folder=folder,
        on_epoch=on_epoch,
        progress=progress,
    )
    return Fitted(model, parts, units, fit)


def backtest_fitted(config: RunConfig, panel: Panel, fitted: Fitted, *, track: Track = iter) -> BacktestResult:
    """Score the model and the configured baselines over every test window."""
    horizon = config.model.horizon
    scales = SeriesScales.measure(
        panel, ends=fitted.parts.train_end, units=fitted.units, season_length=config.backtest.season_for(panel)
    )
    contenders: dict[str, Contender] = {MODEL: ModelContender(fitted.model)}
    contenders |= fit_baselines(
        config.backtest.baselines,
        panel,
        ends=fitted.parts.train_end,
        units=fitted.units,
        context_length=config.model.context_length,
        horizon=horizon,
        quantile_levels=contenders[MODEL].quantile_levels,
    )
    windows = test_windows(fitted.parts, horizon=horizon, stride=config.backtest.stride)
    return backtest(
        contenders,
        panel,
        windows,
        horizon=horizon,
        scales=scales,
        batch_size=config.backtest.batch_size,
        track=track,
    )
