"""The one place that chooses which kernel runs, says so once, and never falls back in silence."""

import logging
from typing import Literal

from torch import Tensor

from forecast.attention.call import AttentionCall
from forecast.attention.kernels.base import Kernel
from forecast.attention.kernels.flex import FlexKernel
from forecast.attention.kernels.linear import LinearKernel
from forecast.attention.kernels.reference import ReferenceKernel
from forecast.attention.kernels.sdpa import SdpaKernel
from forecast.attention.kernels.xformers import XformersKernel
from forecast.errors import BackendUnavailable

log = logging.getLogger("longcast.attention")

Backend = Literal["auto", "reference", "sdpa", "xformers", "flex", "linear"]

KERNELS: dict[str, Kernel] = {
    kernel.name: kernel for kernel in (ReferenceKernel(), SdpaKernel(), XformersKernel(), FlexKernel(), LinearKernel())
}

PREFERENCE = {"cuda": ("xformers", "sdpa", "linear"), "cpu": ("sdpa", "linear")}
"""What `auto` tries a device, best first; other devices are served like the CPU.

Not 'flex': its first call of each kind takes up to a minute to compile, which one has to want.
"""


def attend(call: AttentionCall, *, backend: Backend = "auto") -> Tensor:
    """Compute the call with the backend asked for, or with the best one that can where `auto` is.

    Raises:
        BackendUnavailable: the backend asked for cannot compute this call; says why and what would work.
    """
    return choose(call, backend=backend).run(call)


def choose(call: AttentionCall, *, backend: Backend = "auto") -> Kernel:
    """Give the kernel that computes the call, as `attend` would."""
    device = call.query.device.type
    if backend != "auto":
        return _asked_for(call, backend)
    refusals = []
    for name in PREFERENCE.get(device, PREFERENCE["cpu"]):
        reason = KERNELS[name].reluctance(call) or KERNELS[name].refusal(call)
        if reason is None:
            _announce(name, device, "; ".join(refusals))
            return KERNELS[name]
        refusals.append(f"{name}: {reason}")
    raise BackendUnavailable(f"no attention backend serves this call on {device}: {'; '.join(refusals)}")


def _asked_for(call: AttentionCall, backend: str) -> Kernel:
    kernel = KERNELS[backend]
    reason = kernel.refusal(call)
    if reason is not None:
        raise BackendUnavailable(f"attention backend {backend!r} was asked for and cannot serve: {reason}")
    _announce(backend, call.query.device.type, "")
    return kernel


def _announce(name: str, device: str, passed_over: str) -> None:
    """Say which kernel runs, once a kernel and device; what was passed over is said with the first such call."""
    if (name, device) not in _announced:
        _announced.add((name, device))
        log.info("attention runs on %s (%s)%s", name, device, f"; passed over {passed_over}" if passed_over else "")


_announced: set[tuple[str, str]] = set()
