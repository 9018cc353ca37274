"""Print what a compiled run gives beside the same run without: losses, weights, and how many graphs were made.

A script of its own: torch.compile cannot look through the shape checker that the tests put around every function.
"""

import json
import sys
import tempfile
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.forecast.training.tiny_run import run, tiny, validation_batch


def trained(*, compiled: bool) -> dict[str, object]:
    """Train for two epochs, with layers that are recomputed selectively, and look at what comes back."""
    layer = {"d_model": 8, "num_heads": 2, "dropout": 0.0, "checkpointing": "selective"}
    model = tiny(layer=layer, num_encoder_layers=2)
    with tempfile.TemporaryDirectory() as folder:
        fit = run(model, Path(folder), compile=compiled, optimizer={"learning_rate": 1e-2})
    batch = validation_batch()
    return {
        "epochs": fit.epochs,
        "forecast": model.forecast(batch.past, batch.past_observed, horizon=6).mean.tolist(),
        "is_compiled": any(module._compiled_call_impl is not None for module in model.modules()),
        "graphs": torch._dynamo.utils.counters["stats"]["unique_graphs"],
    }


print(json.dumps([trained(compiled=False), trained(compiled=True)]))  # noqa: T201 - its answer
