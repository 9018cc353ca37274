"""Compilation: while a run trains, the layers of encoder and decoder run as torch.compile made them."""

from collections.abc import Generator
from contextlib import contextmanager

import torch
from lightning.pytorch import Callback, LightningModule, Trainer
from torch import nn

from forecast.model.layers import DecoderLayer, EncoderLayer


@contextmanager
def compiled_layers(network: nn.Module) -> Generator[None]:
    """Compile each layer at its first run inside the block; layers of one kind share what is compiled.

    A layer at a time, because the model around them asks the data which steps are observed, which no graph holds.
    """
    layers = [module for module in network.modules() if isinstance(module, EncoderLayer | DecoderLayer)]
    for layer in layers:
        layer.compile()
    try:
        yield
    finally:
        torch.compiler.set_stance("default")
        for layer in layers:
            layer._compiled_call_impl = None  # Module.compile has no way back


class EagerValidation(Callback):
    """Validates without what was compiled: a roll-out has another shape every step, and each would be compiled."""

    def on_validation_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Leave the compiled layers."""
        torch.compiler.set_stance("force_eager")

    def on_validation_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Come back to them."""
        torch.compiler.set_stance("default")
