"""One training run: from an untrained model and two loaders to the best weights."""

import logging
import math
import warnings
from collections.abc import Generator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch
from lightning.pytorch import Callback, Trainer
from lightning.pytorch.callbacks import EarlyStopping, EMAWeightAveraging, ModelCheckpoint
from torch.utils.data import DataLoader

from forecast.errors import BackendUnavailable, TrainingError
from forecast.losses import PointHead
from forecast.model.transformer import ForecastModel
from forecast.quiet import quiet_loggers
from forecast.training.callbacks import EpochMetrics, History, OnEpoch, StepLimit, ThroughputBar
from forecast.training.compilation import EagerValidation, compiled_layers
from forecast.training.config import TrainerConfig
from forecast.training.early_dropout import EarlyDropout
from forecast.training.module import TeacherForcing
from forecast.training.precision import check_precision


@dataclass(frozen=True)
class Fit:
    """What a training run leaves: the model itself holds the best weights."""

    epochs: list[EpochMetrics]
    best_epoch: int
    """Counted from 0; -1 where no epoch of a point model was better than its draft alone."""
    best_loss: float
    """The monitored loss of the epoch kept; a training loss is that of the weights before they were averaged."""


def fit_model(
    model: ForecastModel,
    *,
    train: DataLoader,
    validation: DataLoader | None,
    config: TrainerConfig,
    folder: Path,
    on_epoch: OnEpoch = lambda epoch, metrics: None,
    progress: bool = False,
) -> Fit:
    """Train `model` in place and leave it with the best weights, in evaluation mode on the CPU.

    Nothing is written outside `folder`, which receives the best checkpoint.

    Raises:
        TrainingError: there is nothing to train on or nothing to judge epochs by, or the first epoch diverged.
        BackendUnavailable: the device cannot train in the precision asked for, or is not here.
    """
    _check(train, validation, config)
    check_precision(config.precision, device=training_device(config))
    module = TeacherForcing(model, config.optimizer)
    history, checkpoint = History(on_epoch), _checkpoint(config, folder)
    callbacks = [*_callbacks(config, progress=progress), history, checkpoint]
    with _quiet():
        untrained = _untrained_loss(module, validation, config, folder)
        before = {name: weight.clone() for name, weight in model.state_dict().items()}
        trainer = _trainer(config, folder, callbacks, progress=progress)
        with compiled_layers(model) if config.compile else nullcontext():
            trainer.fit(module, train, validation)
    fit = _best(model, checkpoint, history, untrained=untrained, before=before)
    model.to("cpu").eval()
    return fit


def _check(train: DataLoader, validation: DataLoader | None, config: TrainerConfig) -> None:
    if len(train) == 0:
        raise TrainingError("there is no training window; give longer series, or a shorter context_length or horizon")
    if validation is None and config.monitor == "validation_loss":
        raise TrainingError(
            "there is no validation window to judge epochs by; give the split a validation part of at least one "
            "horizon, or set trainer.monitor to train_loss"
        )


def training_device(config: TrainerConfig) -> torch.device:
    """Choose where to train: other accelerators than CUDA lack the float64 that statistics are measured in.

    Raises:
        BackendUnavailable: CUDA is asked for and is not here.
    """
    if config.device == "cuda" and not torch.cuda.is_available():
        raise BackendUnavailable("trainer.device is cuda and torch sees no CUDA device; set it to cpu or auto")
    return torch.device("cuda" if config.device != "cpu" and torch.cuda.is_available() else "cpu")


def _trainer(config: TrainerConfig, folder: Path, callbacks: list[Callback], *, progress: bool) -> Trainer:
    return Trainer(
        default_root_dir=folder,
        accelerator="gpu" if training_device(config).type == "cuda" else "cpu",
        devices=1,
        precision=config.precision,
        max_epochs=config.max_epochs,
        max_steps=config.max_steps or -1,
        gradient_clip_val=config.gradient_clip or None,
        callbacks=callbacks,
        logger=False,
        enable_progress_bar=progress,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )


def _checkpoint(config: TrainerConfig, folder: Path) -> ModelCheckpoint:
    return ModelCheckpoint(
        dirpath=folder / "checkpoints",
        filename="best",
        monitor=config.monitor,
        save_top_k=1,
        enable_version_counter=False,
        save_on_train_epoch_end=True,
    )


def _callbacks(config: TrainerConfig, *, progress: bool) -> list[Callback]:
    callbacks: list[Callback] = [
        EMAWeightAveraging(decay=config.average_decay),
        EarlyDropout(config.dropout_share),
        EarlyStopping(monitor=config.monitor, patience=config.patience, check_on_train_epoch_end=True),
    ]
    if config.compile:
        callbacks.append(EagerValidation())
    if config.max_steps is not None:
        callbacks.append(StepLimit(config.max_steps))
    if progress:
        callbacks.append(ThroughputBar())
    return callbacks


def _untrained_loss(
    module: TeacherForcing, validation: DataLoader | None, config: TrainerConfig, folder: Path
) -> float:
    """Measure the draft alone: a point model that refines one must not end up worse than it.

    A model with a spread is not measured: before training its spread means nothing.
    """
    model = module.model
    comparable = config.monitor == "validation_loss" and isinstance(model.config.head, PointHead)
    if validation is None or model.draft is None or not comparable:
        return float("inf")
    trainer = _trainer(config, folder, [], progress=False)
    return float(trainer.validate(module, validation, verbose=False)[0]["validation_loss"])


def _best(
    model: ForecastModel,
    checkpoint: ModelCheckpoint,
    history: History,
    *,
    untrained: float,
    before: dict[str, torch.Tensor],
) -> Fit:
    assert checkpoint.best_model_score is not None, "a finished run has validated at least once"
    best = float(checkpoint.best_model_score)
    if not math.isfinite(min(best, untrained)):
        raise TrainingError(
            "the loss was not a number from the first epoch on, so there is nothing to keep; lower "
            "trainer.optimizer.learning_rate"
        )
    if untrained <= best:
        model.load_state_dict(before)
        return Fit(history.epochs, best_epoch=-1, best_loss=untrained)
    saved = torch.load(checkpoint.best_model_path, map_location="cpu", weights_only=True)
    weights = saved["state_dict"]
    model.load_state_dict({name.removeprefix("model."): weight for name, weight in weights.items()})
    return Fit(history.epochs, best_epoch=int(saved["epoch"]), best_loss=best)


@contextmanager
def _quiet() -> Generator[None]:
    """Silence what Lightning says of itself; its warnings about data are kept but for those that do not apply here."""
    with warnings.catch_warnings(), quiet_loggers(("lightning.pytorch", "lightning.fabric"), level=logging.ERROR):
        # Batches are gathered in one step from memory: worker processes would only copy them.
        warnings.filterwarnings("ignore", message=".*does not have many workers.*")
        warnings.filterwarnings("ignore", message=".*have no `val_dataloader`.*")
        warnings.filterwarnings("ignore", message=".*Checkpoint directory .* exists and is not empty.*")
        # Lightning walks batches with an interface of torch that has a newer form.
        warnings.filterwarnings("ignore", message=".*treespec, LeafSpec.* is deprecated", category=FutureWarning)
        yield
