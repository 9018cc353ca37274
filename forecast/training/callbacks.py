"""Callbacks: the history of a run, its end after a number of steps, and a progress bar that shows throughput."""

import time
from collections.abc import Callable
from typing import Any

from lightning.pytorch import Callback, LightningModule, Trainer
from lightning.pytorch.callbacks import TQDMProgressBar

from forecast.batch import Batch

EpochMetrics = dict[str, float]
OnEpoch = Callable[[int, EpochMetrics], None]


class History(Callback):
    """Collects the metrics of every epoch, and tells them to a listener as they come."""

    def __init__(self, listener: OnEpoch):
        self.epochs: list[EpochMetrics] = []
        self.listener = listener

    def on_train_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Take down what was logged; validation of the epoch has run by now."""
        metrics = {name: float(value) for name, value in trainer.callback_metrics.items()}
        metrics["learning_rate"] = float(trainer.optimizers[0].param_groups[0]["lr"])
        self.epochs.append(metrics)
        self.listener(trainer.current_epoch, metrics)


class StepLimit(Callback):
    """Ends a run after a number of steps; asked to stop, Lightning still validates the epoch that is cut short."""

    def __init__(self, max_steps: int):
        self.max_steps = max_steps

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Batch, batch_idx: int
    ) -> None:
        """Ask for the end at the last step."""
        if trainer.global_step >= self.max_steps:
            trainer.should_stop = True


class ThroughputBar(TQDMProgressBar):
    """One bar with losses and windows per second."""

    def __init__(self) -> None:
        super().__init__(refresh_rate=10, leave=False)
        self._num_windows = 0
        self._started = 0.0

    def on_train_epoch_start(self, trainer: Trainer, *args: Any) -> None:
        """Start counting."""
        super().on_train_epoch_start(trainer, *args)
        self._num_windows, self._started = 0, time.monotonic()

    def on_train_batch_end(
        self, trainer: Trainer, pl_module: LightningModule, outputs: Any, batch: Batch, batch_idx: int
    ) -> None:
        """Count the windows of a batch."""
        self._num_windows += len(batch.past)
        super().on_train_batch_end(trainer, pl_module, outputs, batch, batch_idx)

    def get_metrics(
        self, trainer: Trainer, pl_module: LightningModule
    ) -> dict[str, int | str | float | dict[str, float]]:
        """Show losses and throughput, and no version of a logger that is not there."""
        metrics = super().get_metrics(trainer, pl_module)
        metrics.pop("v_num", None)
        elapsed = time.monotonic() - self._started
        return {**metrics, "windows/s": round(self._num_windows / elapsed) if elapsed > 0 else 0}
