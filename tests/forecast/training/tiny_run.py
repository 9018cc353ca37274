"""A model of a few hundred weights, windows to train it on, and a run of milliseconds."""

from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader

from forecast.batch import Batch
from forecast.config import build_config
from forecast.model.transformer import ForecastModel, ModelConfig
from forecast.training.config import TrainerConfig
from forecast.training.fit import Fit, fit_model
from tests.forecast.model.kinds import CONTEXT, HORIZON, make_batch

NUM_BATCHES, BATCH_SIZE = 3, 12


def training_batches() -> list[Batch]:
    return [make_batch(BATCH_SIZE, seed=number) for number in range(NUM_BATCHES)]


def validation_batch() -> Batch:
    return make_batch(16, seed=100)


def loader(*batches: Batch) -> DataLoader:
    return DataLoader(list(batches), batch_size=None)


def tiny(*, seed: int = 1, dropout: float = 0.0, **changes: Any) -> ForecastModel:
    """Build the model; the seed decides its weights, and what dropout draws afterwards."""
    torch.manual_seed(seed)
    plain = {
        "context_length": CONTEXT,
        "horizon": HORIZON,
        "patch_length": 10,
        "num_encoder_layers": 1,
        "layer": {"d_model": 8, "num_heads": 2, "dropout": dropout},
        "decoder": {"kind": "autoregressive", "patch_length": 6},
        **changes,
    }
    return ForecastModel(build_config(ModelConfig, plain))


def run(model: ForecastModel, folder: Path, **settings: Any) -> Fit:
    """Train on the batches above, with a listener, a bar or other loaders where given, and these trainer settings."""
    asked = {name: settings.pop(name) for name in ("train", "validation", "on_epoch", "progress") if name in settings}
    loaders = {"train": loader(*training_batches()), "validation": loader(validation_batch())}
    config = build_config(TrainerConfig, {"max_epochs": 2, "device": "cpu", **settings})
    return fit_model(model, config=config, folder=folder, **{**loaders, **asked})


def weights(model: ForecastModel) -> dict[str, bytes]:
    """The weights to the last bit."""
    return {name: weight.numpy().tobytes() for name, weight in model.state_dict().items()}
