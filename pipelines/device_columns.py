"""A panel's columns on the device that trains, where they fit, so that batches are cut there and never travel."""

import logging

import numpy as np
import torch
from jaxtyping import Shaped
from torch import Tensor

from forecast.frames.panel import Panel
from forecast.gather import Gather, Runs, gather_on_host, gather_tensor

log = logging.getLogger("longcast.data")

SHARE = 0.5
"""Of a device's free memory that columns may take: the rest is for the model, its gradients and its activations."""

CHUNK = 1 << 22  # steps copied at a time, so that a mapped file is not held in memory whole on its way


class DeviceColumns:
    """The columns of one panel on a device: a `Gather` for that panel alone."""

    def __init__(self, panel: Panel, device: torch.device):
        self._panel = panel  # an array is known by where it is, so it must not go before this does
        self._columns = {id(column): _moved(column, device) for column in columns_of(panel)}

    def __call__(self, steps: Shaped[np.ndarray, " step"], runs: Runs) -> Shaped[Tensor, "batch length"]:
        """Give the runs of one of the panel's columns."""
        return gather_tensor(self._columns[id(steps)], runs)


def columns_of(panel: Panel) -> list[np.ndarray]:
    """Give the columns that have a value a step."""
    beside = () if panel.covariates is None else (*panel.covariates.values, *panel.covariates.observed)
    return [column for column in (panel.values, panel.observed, panel.weights, *beside) if column is not None]


def choose_gather(panel: Panel, *, device: torch.device) -> Gather:
    """Give what cuts batches fastest for training on a device, and log which it is."""
    if device.type != "cuda":
        return _on_host(f"training is on {device.type}")
    free_bytes, _ = torch.cuda.mem_get_info(device)
    return gather_within(panel, device=device, free_bytes=free_bytes)


def gather_within(panel: Panel, *, device: torch.device, free_bytes: int) -> Gather:
    """Put the panel on a device that has so much free memory, if a share of it holds the columns."""
    needed = sum(column.nbytes for column in columns_of(panel))
    size = f"the columns take {needed / 1e9:.3g} GB of {free_bytes / 1e9:.3g} GB free on {device}"
    if needed > SHARE * free_bytes:
        return _on_host(f"{size}, more than {SHARE:.0%}")
    log.info("batches are cut on %s: %s", device, size)
    return DeviceColumns(panel, device)


def _on_host(reason: str) -> Gather:
    log.info("batches are cut in main memory: %s", reason)
    return gather_on_host


def _moved(column: Shaped[np.ndarray, " step"], device: torch.device) -> Shaped[Tensor, " step"]:
    dtype = torch.bool if column.dtype == np.bool_ else torch.float64
    moved = torch.empty(len(column), dtype=dtype, device=device)
    for start in range(0, len(column), CHUNK):
        moved[start : start + CHUNK] = torch.tensor(column[start : start + CHUNK])
    return moved
