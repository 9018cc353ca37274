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
from torch._inductor.exc import InductorError

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
    """The compiled network of one model."""

    def __init__(self, model: "ForecastModel", file: Path):
        """Load what `compile_network` made of the model's graph."""
        self._compiled = torch._inductor.aoti_load_package(str(file))
        self._encoder, self._hides_none = model.encoder, _hides_none(model, _example(model))
        self._shape = _num_rows(model), model.config.context_length
        self._horizon = model.config.horizon

    def serves(self, given: Given, *, horizon: int) -> bool:
        """Whether this is the window that was compiled; a shorter horizon is the beginning of the trained one."""
        if given.past.shape != self._shape or given.past.device.type != "cpu" or horizon > self._horizon:
            return False
        return not self._hides_none or self._encoder.hides_none(given.past_observed)

    def run(self, given: Given) -> Float[Tensor, "row horizon parameter"]:
        """Give the head's parameters of the trained horizon."""
        return self._compiled(*_tensors(given))


class Network(nn.Module):
    """Encoder and decoder as one function of the tensors given, in the order of their names."""

    def __init__(self, model: "ForecastModel", example: Given):
        super().__init__()
        self.model = model
        self.names = _names(example)
        self.hides_none = _hides_none(model, example)

    def forward(self, *tensors: Tensor) -> Float[Tensor, "row horizon parameter"]:
        """Give the head's parameters of the trained horizon."""
        known = self.model.know(Given(**dict(zip(self.names, tensors, strict=True))), hides_none=self.hides_none)
        return self.model.decoder.roll_out(known, horizon=self.model.config.horizon)


def export_network(model: "ForecastModel") -> torch.export.ExportedProgram:
    """Give the network as a graph of one window.

    Raises:
        BackendUnavailable: the model is not on a CPU, or decodes too many tokens one after the other.
    """
    _refuse(model)
    example = _example(model)
    with torch.no_grad():
        return torch.export.export(Network(model, example), tuple(_tensors(example)), strict=False)


def compile_network(exported: torch.export.ExportedProgram, file: Path) -> None:
    """Compile a graph to a file that ends in `.pt2`.

    Raises:
        BackendUnavailable: it cannot be compiled here, mostly for want of a C++ compiler.
    """
    try:
        torch._inductor.aoti_compile_and_package(exported, package_path=str(file), inductor_configs=dict(OPTIONS))
    except InductorError as failure:
        reason = str(failure).strip().splitlines()[0]
        raise BackendUnavailable(
            f"a model is compiled with a C++ compiler, and it failed: {reason}; install g++"
        ) from None


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
    rows, config = _num_rows(model), model.config
    past = torch.ones(rows, config.context_length, dtype=torch.float64)
    covariates = _nothing_known(model.schema, rows, config.context_length + config.horizon) if model.schema else None
    return model.open(Context(past, torch.ones_like(past, dtype=torch.bool), covariates)).given


def _nothing_known(schema: CovariateSchema, rows: int, steps: int) -> CovariateWindows:
    values = torch.zeros(rows, steps, len(schema.steps), dtype=torch.float64)
    static = torch.zeros(rows, len(schema.static), dtype=torch.float64)
    return CovariateWindows(values, torch.zeros_like(values, dtype=torch.bool), static, static.bool())


def _hides_none(model: "ForecastModel", example: Given) -> bool:
    """Whether a whole window leaves no token to be hidden; where changes over a season are shown, the first are."""
    return model.encoder.hides_none(example.past_observed)


def _num_rows(model: "ForecastModel") -> int:
    return 1 if model.encoder.mixing is None else model.encoder.mixing.num_channels


def _names(given: Given) -> tuple[str, ...]:
    return tuple(field.name for field in fields(given) if getattr(given, field.name) is not None)


def _tensors(given: Given) -> list[Tensor]:
    """Give them as they were compiled for: a package does not ask how a tensor lies in memory."""
    return [getattr(given, name).contiguous() for name in _names(given)]
