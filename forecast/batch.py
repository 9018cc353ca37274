"""The one place that cuts a window from a series, for training and for serving alike."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from forecast.frames.covariates import Covariates
from forecast.frames.panel import Panel
from forecast.gather import Gather, Runs, gather_on_host

Numbers = Int64[np.ndarray, " batch"]


class Rows:
    """Tensors with a row a window, which move and are chosen together."""

    def to(self, device: torch.device | str) -> Self:
        """Give the same on another device."""
        return self._each(lambda tensor: tensor.to(device, non_blocking=True))

    def rows(self, chosen: slice | Tensor) -> Self:
        """Give the chosen windows."""
        return self._each(lambda tensor: tensor[chosen])

    def tensors(self) -> dict[str, Tensor]:
        """Give every tensor by its name, those of parts by `part.name`."""
        found: dict[str, Tensor] = {}
        for name, part in self._parts().items():
            if isinstance(part, Rows):
                found |= {f"{name}.{inner}": tensor for inner, tensor in part.tensors().items()}
            elif part is not None:
                found[name] = part
        return found

    def _parts(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # ty: ignore[invalid-argument-type]

    def _each(self, change: Callable[[Tensor], Tensor]) -> Self:
        changed: dict[str, Any] = {}
        for name, part in self._parts().items():
            changed[name] = part._each(change) if isinstance(part, Rows) else None if part is None else change(part)
        return type(self)(**changed)


@dataclass(frozen=True)
class CovariateWindows(Rows):
    """What is known beside the target, in the units given; unknown values are 0 and False in the `observed` masks.

    `steps` spans the past and the horizon; covariates of the past alone are unknown in the horizon.
    """

    steps: Float64[Tensor, "batch time covariate"]
    steps_observed: Bool[Tensor, "batch time covariate"]
    static: Float64[Tensor, "batch static"]
    static_observed: Bool[Tensor, "batch static"]


@dataclass(frozen=True)
class Batch(Rows):
    """Windows of equal shape: `past` ends right before the origin, `future` begins at it.

    Values are raw, in the caller's units and float64, so that statistics lose nothing; steps outside a series or
    without an observation hold 0 and are marked False in the `observed` masks.
    """

    past: Float64[Tensor, "batch context"]
    past_observed: Bool[Tensor, "batch context"]
    future: Float64[Tensor, "batch horizon"]
    future_observed: Bool[Tensor, "batch horizon"]
    unit: Float64[Tensor, " batch"]
    """The spread of the window's series on its training part: losses are measured in it. One where unknown."""

    covariates: CovariateWindows | None = None
    """None where the panel has none."""

    weight: Float64[Tensor, "batch horizon"] | None = None
    """How much each future step counts in the loss; None where all count alike."""


def cut_windows(
    panel: Panel,
    *,
    series: Numbers,
    origins: Numbers,
    context_length: int,
    horizon: int,
    units: Float64[np.ndarray, " series"] | None = None,
    ends: Int64[np.ndarray, " series"] | None = None,
    known_horizon: int | None = None,
    gather: Gather = gather_on_host,
) -> Batch:
    """Cut one window a row in a single vectorised step.

    `series` numbers the series in the panel; `origins` counts steps from the start of each to the first step forecast
    (0 to its length). A context that reaches before the start of its series is padded on the left, a future that
    reaches past its end on the right, both unobserved. `ends` ends each series earlier, so that training sees nothing
    of what is held out. Covariates are given for `known_horizon` steps from the origin on, by default `horizon`.
    `gather` reads the steps, by default from main memory.
    """
    lows = panel.offsets[series]
    highs = lows + (panel.lengths if ends is None else ends)[series]
    starts = lows + origins - context_length
    runs = Runs(starts, lows, highs, context_length + horizon)
    values, observed = gather(panel.values, runs), gather(panel.observed, runs)
    unit = np.ones(len(series)) if units is None else units[series]
    return Batch(
        past=values[:, :context_length],
        past_observed=observed[:, :context_length],
        future=values[:, context_length:],
        future_observed=observed[:, context_length:],
        unit=torch.from_numpy(unit),
        covariates=_cut_covariates(
            panel.covariates,
            series=series,
            starts=origins - context_length,
            context_length=context_length,
            horizon=horizon if known_horizon is None else known_horizon,
            gather=gather,
        ),
        weight=None if panel.weights is None else gather(panel.weights, runs.without(context_length)),
    )


def cut_newest(panel: Panel, *, series: Numbers, context_length: int, known_horizon: int = 0) -> Batch:
    """Cut the windows whose past is the newest `context_length` steps of a series and whose future is empty."""
    return cut_windows(
        panel,
        series=series,
        origins=panel.lengths[series],
        context_length=context_length,
        horizon=0,
        known_horizon=known_horizon,
    )


def _cut_covariates(
    covariates: Covariates | None,
    *,
    series: Numbers,
    starts: Numbers,
    context_length: int,
    horizon: int,
    gather: Gather,
) -> CovariateWindows | None:
    if covariates is None:
        return None
    lows = covariates.starts[series]
    runs = Runs(lows + starts, lows, lows + covariates.lengths[series], context_length + horizon)
    shape = (len(series), runs.length)
    steps = _beside([gather(values, runs) for values in covariates.values], shape=shape, dtype=torch.float64)
    inside = torch.from_numpy(runs.inside).to(steps.device)
    known = [inside if observed is None else gather(observed, runs) for observed in covariates.observed]
    steps_observed = _beside(known, shape=shape, dtype=torch.bool)
    # What is known of the past alone must not be seen in the horizon, in training no more than in use.
    num_past = len(covariates.schema.past)
    steps[:, context_length:, :num_past], steps_observed[:, context_length:, :num_past] = 0.0, False
    return CovariateWindows(
        steps=steps,
        steps_observed=steps_observed,
        static=torch.from_numpy(covariates.static[series]),
        static_observed=torch.from_numpy(covariates.static_observed[series]),
    )


def _beside(columns: list[Tensor], *, shape: tuple[int, int], dtype: torch.dtype) -> Tensor:
    """Lay columns of one time beside each other; `shape` and `dtype` are those of each, where there is none at all."""
    return torch.stack(columns, dim=2) if columns else torch.zeros(*shape, 0, dtype=dtype)
