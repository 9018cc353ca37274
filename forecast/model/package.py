"""A package: encoder and decoder compiled ahead of time, for one window of the trained context and horizon.

At a batch of one a forecast is hundreds of small operations whose calls cost more than their arithmetic; a package is
one call of machine code that holds the weights (AOTInductor, `torch.export`). It is made for the processor that it is
made on. Where its window has a gap as long as a token, or another shape, the model runs as it always does.
"""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch._inductor.exc import InductorError, InvalidCxxCompiler

from forecast.batch import CovariateWindows
from forecast.errors import BackendUnavailable
from forecast.frames.covariates import CovariateSchema
from forecast.model.context import Context
from forecast.model.decoding import Given

if TYPE_CHECKING:
    from forecast.model.transformer import ForecastModel

LONGEST = 64
"""Tokens decoded one after the other, each of which is compiled for itself: about a second's work apiece."""

OPTIONS = {"cpp.dynamic_threads": True}  # as many threads as torch is set to when it runs, not when it was compiled


class Package:
    """A network that was compiled."""

    def __init__(self, network: "Network", file: Path):
        """Load what `compile_network` made of the network's graph."""
        self._compiled = torch._inductor.aoti_load_package(str(file))
        self._hides_none = network.model.encoder.hides_none if network.hides_none else None
        self._shape = network.example.past.shape
        self._horizon = network.model.config.horizon

    def serves(self, given: Given, *, horizon: int) -> bool:
        """Whether this is the window that was compiled; a shorter horizon is the beginning of the trained one."""
        if given.past.shape != self._shape or given.past.device.type != "cpu" or horizon > self._horizon:
            return False
        return self._hides_none is None or self._hides_none(given.past_observed)

    def run(self, given: Given) -> Float[Tensor, "row horizon parameter"]:
        """Give the head's parameters of the trained horizon."""
        return self._compiled(*_tensors(given))


class Network(nn.Module):
    """Encoder and decoder as one function of the tensors given, in the order of their names."""

    def __init__(self, model: "ForecastModel"):
        """Take a model on a CPU that decodes few tokens one after the other.

        Raises:
            BackendUnavailable: it is another.
        """
        super().__init__()
        _refuse(model)
        self.model = model
        self.example = _example(model)
        # Where changes over a season are shown, a whole window has tokens to be hidden too: the first ones.
        self.hides_none = model.encoder.hides_none(self.example.past_observed)

    def forward(self, *tensors: Tensor) -> Float[Tensor, "row horizon parameter"]:
        """Give the head's parameters of the trained horizon."""
        given = Given(**dict(zip(_names(self.example), tensors, strict=True)))
        known = self.model.know(given, hides_none=self.hides_none)
        return self.model.decoder.roll_out(known, horizon=self.model.config.horizon)


def export_network(network: Network) -> torch.export.ExportedProgram:
    """Give the network as a graph of one window."""
    with torch.no_grad():
        return torch.export.export(network, tuple(_tensors(network.example)), strict=False)


def compile_network(exported: torch.export.ExportedProgram, file: Path) -> None:
    """Compile a graph to a file that ends in `.pt2`.

    Raises:
        BackendUnavailable: it cannot be compiled here, or there is no C++ compiler.
    """
    try:
        torch._inductor.aoti_compile_and_package(exported, package_path=str(file), inductor_configs=dict(OPTIONS))
    except InductorError as failure:
        if isinstance(failure.inner_exception, InvalidCxxCompiler):
            raise BackendUnavailable("a model is compiled with a C++ compiler and none works; install g++") from None
        raise BackendUnavailable(
            f"the model cannot be compiled: {failure.inner_exception}; leave it as it is"
        ) from failure


def _refuse(model: "ForecastModel") -> None:
    device = next(model.parameters()).device.type
    if device != "cpu":
        raise BackendUnavailable(f"models are compiled for the CPU and this one is on {device}; leave it as it is")
    count = model.decoder.num_passes
    if count > LONGEST:
        raise BackendUnavailable(
            f"the decoder decodes {count} tokens one after the other and at most {LONGEST} are compiled; train with a "
            f"larger decoder.patch_length, or with decoder 'direct', or leave the model as it is"
        )


def _example(model: "ForecastModel") -> Given:
    """Give a window of the trained shape; what it holds does not matter, but every transform takes it."""
    rows, config = model.num_channels, model.config
    past = torch.ones(rows, config.context_length, dtype=torch.float64)
    covariates = _nothing_known(model.schema, rows, config.context_length + config.horizon) if model.schema else None
    return model.open(Context(past, torch.ones_like(past, dtype=torch.bool), covariates)).given


def _nothing_known(schema: CovariateSchema, rows: int, steps: int) -> CovariateWindows:
    values = torch.zeros(rows, steps, len(schema.steps), dtype=torch.float64)
    static = torch.zeros(rows, len(schema.static), dtype=torch.float64)
    return CovariateWindows(values, torch.zeros_like(values, dtype=torch.bool), static, static.bool())


def _names(given: Given) -> tuple[str, ...]:
    return tuple(field.name for field in fields(given) if getattr(given, field.name) is not None)


def _tensors(given: Given) -> list[Tensor]:
    """Give them as they were compiled for: a package does not ask how a tensor lies in memory."""
    return [getattr(given, name).contiguous() for name in _names(given)]
