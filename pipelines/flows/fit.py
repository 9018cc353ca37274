"""Fit: from a panel to a trained model and its artifact; reads and logs nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
from jaxtyping import Float64, Int64
from lightning.pytorch import seed_everything

from forecast.artifact import Artifact
from forecast.card import describe
from forecast.covariate_scales import measure_covariates
from forecast.errors import ConfigError
from forecast.frames.contract import Prepared
from forecast.frames.panel import Panel
from forecast.linear import fit_linear
from forecast.model.config import ModelConfig
from forecast.model.transformer import ForecastModel
from forecast.training.callbacks import OnEpoch
from forecast.training.fit import Fit, fit_model, training_device
from forecast.transform import refuse_outside_series
from pipelines.config import RunConfig
from pipelines.datamodule import WindowDataModule
from pipelines.split import Parts, train_units


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained model with what it was trained on."""

    model: ForecastModel
    """In evaluation mode, on the CPU, with the best weights."""
    parts: Parts
    units: Float64[np.ndarray, " series"]
    """The spread of each series on its training part, transformed as the model transforms it."""
    fit: Fit


def fit_panel(
    config: RunConfig,
    panel: Panel,
    *,
    folder: Path,
    parts: Parts | None = None,
    on_epoch: OnEpoch = lambda epoch, metrics: None,
    progress: bool = False,
) -> Fitted:
    """Train the configured model on the training part of a panel; the same seed gives the same weights on a CPU.

    `parts` are those of the configured split unless given.

    Raises:
        SeriesTooShort: not one training window fits.
        TrainingError: nothing to judge epochs by, or no complete window for the draft.
        DataError: a series has values that the model's transform cannot take.
    """
    seed_everything(config.seed, workers=True, verbose=False)
    model_config, trainer = config.model, config.trainer
    parts = parts or config.split.cut(panel, horizon=model_config.horizon)
    model = _untrained(model_config, panel)
    transformed = _transform(model, panel, ends=parts.train_end)
    units = train_units(transformed, parts.train_end)
    windows = WindowDataModule(
        panel,
        parts,
        context_length=model_config.context_length,
        horizon=model_config.horizon,
        batch_size=trainer.batch_size,
        seed=config.seed,
        stride=trainer.stride,
        validation_stride=trainer.validation_stride,
        buckets=trainer.buckets,
        device=training_device(trainer),
        units=units,
    )
    if panel.covariates is not None:
        model.install_covariate_scales(measure_covariates(panel.covariates, ends=parts.train_end))
    _solve_draft(model, transformed, ends=parts.train_end, units=units)
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


def build_artifact(
    config: RunConfig, prepared: Prepared, fitted: Fitted, *, figures: Mapping[str, float] = MappingProxyType({})
) -> Artifact:
    """Put a fitted model and its card together; `figures` are those of its backtest, by metric."""
    card = describe(
        fitted.model,
        prepared,
        name=config.name,
        contract=config.contract,
        ends=fitted.parts.train_end,
        backtest=figures,
    )
    return Artifact(fitted.model, card)


def _transform(model: ForecastModel, panel: Panel, *, ends: Int64[np.ndarray, " series"]) -> Panel:
    """Give the panel as the model sees it, the transform fitted on the training part.

    Values that the transform cannot take are refused wherever they stand: those held out would end the run later.
    """
    refuse_outside_series(panel, model.transform)
    model.transform.fit(panel, ends=ends)
    return model.transform.transform_panel(panel)


def _untrained(config: ModelConfig, panel: Panel) -> ForecastModel:
    channels = () if panel.channels is None else panel.channels.names
    if config.channels == "mixed" and not channels:
        raise ConfigError(
            "channels are to be mixed and the data have one target; name several columns as contract.columns.target",
            field="model.channels",
        )
    covariates = None if panel.covariates is None else panel.covariates.schema
    return ForecastModel(config, covariates=covariates, channels=channels)


def _solve_draft(
    model: ForecastModel, panel: Panel, *, ends: Int64[np.ndarray, " series"], units: Float64[np.ndarray, " series"]
) -> None:
    """Solve the draft on the training part of the transformed panel, where the model has one."""
    draft = model.config.draft
    if draft is None:
        return
    solved = fit_linear(
        panel,
        ends=ends,
        units=units,
        context_length=model.config.draft_context,
        horizon=model.config.horizon,
        strength=draft.strength,
        measure=draft.measure,
        level=draft.level,
    )
    model.install_draft(solved)
