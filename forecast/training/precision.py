"""Precision: what a device can train in, said before a run begins."""

import platform
import warnings

import torch

from forecast.errors import BackendUnavailable
from forecast.training.config import Precision


class TrainingWarning(UserWarning):
    """A run that works and will not be what was hoped for."""


def check_precision(precision: Precision, *, device: torch.device) -> None:
    """Warn of a precision that the device has no instructions for.

    Raises:
        BackendUnavailable: fp16 is asked for on a device without CUDA, where gradients are not scaled.
    """
    if precision == "16-mixed" and device.type != "cuda":
        raise BackendUnavailable(
            f"trainer.precision 16-mixed needs a CUDA device and the run is on {device.type}; set it to 32-true, or to "
            f"bf16-mixed"
        )
    if precision == "bf16-mixed" and not _has_bf16(device):
        warnings.warn(
            f"trainer.precision is bf16-mixed and this {device.type} device has no bf16 instructions: training will "
            f"be several times slower than with 32-true",
            TrainingWarning,
            stacklevel=2,
        )


def _has_bf16(device: torch.device) -> bool:
    """Ask the device; processors other than x86 are taken at their word."""
    if device.type == "cuda":
        return torch.cuda.is_bf16_supported(including_emulation=False)
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return True
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
