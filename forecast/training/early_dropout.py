"""Early dropout: what is dropped out while a run begins, and nothing towards its end.

Source: Liu et al., "Dropout Reduces Underfitting" (2023). Normalisation layers see larger inputs while something is
dropped than in use, which scales a forecast by a few per cent; the steps without dropout take that out again.
"""

from typing import Any

from lightning.pytorch import Callback, LightningModule, Trainer
from torch import nn

from forecast.attention.multihead import MultiHeadAttention


class EarlyDropout(Callback):
    """Turns all dropout off after a share of the steps."""

    def __init__(self, share: float):
        self.share = share
        self._last_step = 0.0

    def on_train_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Find the step from which nothing is dropped."""
        self._last_step = self.share * float(trainer.estimated_stepping_batches)

    def on_train_batch_start(self, trainer: Trainer, pl_module: LightningModule, batch: Any, batch_idx: int) -> None:
        """Look whether that step has come."""
        if trainer.global_step >= self._last_step:
            _turn_off(pl_module)


def _turn_off(network: nn.Module) -> None:
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        elif isinstance(module, MultiHeadAttention):
            module.dropout = 0.0
