"""Difference: changes over a lag, for series that wander or that carry a season."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from jaxtyping import Bool, Float64, Shaped
from pydantic import PositiveInt
from torch import Tensor

from forecast.config import config
from forecast.frames.panel import Panel
from forecast.observed import newest_observed
from forecast.transform.base import Transformation, Transformed


@config
class Difference:
    """The change since `lag` steps before; the first `lag` steps of a context show no change and are unobserved.

    A step of the horizon is measured from the newest value observed at its own phase, as the seasonal naive would
    forecast it, and not from the step `lag` before it, which is a forecast itself: every quantile changes back exactly,
    and no error adds up along the horizon. Steps that lie several lags after that value count as as many changes: what
    the past changes by on average is expected as often, so that a straight line goes on as one.
    """

    kind: Literal["difference"] = "difference"

    lag: PositiveInt = 1
    """Steps between the values compared: 1, or a season."""

    def build(self) -> Transformation:
        """Build what the model holds."""
        return Change(self.kind, lag=self.lag)


class Change(Transformation):
    """x - x of `lag` steps before."""

    def __init__(self, kind: str, *, lag: int):
        super().__init__(kind)
        self.lag = lag

    @property
    def is_affine(self) -> bool:
        return True

    def open(
        self, past: Float64[Tensor, "batch context"], observed: Bool[Tensor, "batch context"], *, horizon: int
    ) -> "ChangeWindow":
        past, lag = torch.where(observed, past, 0.0), self.lag
        seen = torch.zeros_like(observed)
        seen[:, lag:] = observed[:, lag:] & observed[:, :-lag]
        changes = torch.zeros_like(past)
        changes[:, lag:] = past[:, lag:] - past[:, :-lag]
        base, num_lags = _base(past, observed, lag=lag, horizon=horizon)
        return ChangeWindow(past=torch.where(seen, changes, 0.0), observed=seen, base=base, num_lags=num_lags)

    def transform_panel(self, panel: Panel) -> Panel:
        number = np.repeat(np.arange(len(panel)), panel.lengths)
        seen = panel.observed & (np.arange(len(number)) - panel.offsets[number] >= self.lag)
        seen[self.lag :] &= panel.observed[: -self.lag]
        changes = np.zeros_like(panel.values)
        changes[self.lag :] = panel.values[self.lag :] - panel.values[: -self.lag]
        return replace(panel, values=np.where(seen, changes, 0.0), observed=seen)


@dataclass(frozen=True, eq=False)
class ChangeWindow(Transformed):
    """A window of changes."""

    base: Float64[Tensor, "batch horizon"]
    """The value that each step of the horizon is measured from."""

    num_lags: Float64[Tensor, "batch horizon"]
    """How many lags each step lies after its base."""

    def apply(
        self, future: Float64[Tensor, "batch steps"], observed: Bool[Tensor, "batch steps"]
    ) -> Float64[Tensor, "batch steps"]:
        return torch.where(observed, torch.where(observed, future, 0.0) - self.base[:, : future.shape[1]], 0.0)

    def undo(
        self, values: Float64[Tensor, "batch steps *quantile"], *, moves: Bool[Tensor, "batch 1"]
    ) -> Float64[Tensor, "batch steps *quantile"]:
        base = self.base[:, : values.shape[1]]
        return base.view(*base.shape, *[1] * (values.ndim - 2)) + values

    def num_summed(self, horizon: int) -> Float64[Tensor, "#batch #{horizon}"]:
        return self.num_lags[:, :horizon]


def _base(past: Tensor, observed: Tensor, *, lag: int, horizon: int) -> tuple[Tensor, Tensor]:
    """Give the newest value observed at the phase of each step, and how many lags before the step it was observed.

    Where the past holds none at that phase it is the newest value of all, a share of a lag away; 0 where it holds none.
    """
    ahead = torch.arange(horizon, device=past.device)
    phase, season = ahead % lag, ahead // lag
    steps, seen = _by_phase(past, lag), _by_phase(observed, lag)
    num_cycles = seen.shape[1]
    cycle = torch.where(seen, torch.arange(num_cycles, device=past.device)[:, None], -1).amax(dim=1)
    newest = steps.gather(1, cycle.clamp(min=0)[:, None])[:, 0]
    age = torch.where(observed, torch.arange(past.shape[1], 0, -1, device=past.device), past.shape[1] + 1)
    any_phase = (ahead + age.amin(dim=1, keepdim=True)).double() / lag
    known = (cycle >= 0)[:, phase]
    base = torch.where(known, newest[:, phase], newest_observed(past, observed))
    return base, torch.where(known, (season + num_cycles - cycle[:, phase]).double(), any_phase)


def _by_phase(steps: Shaped[Tensor, "batch context"], lag: int) -> Shaped[Tensor, "batch cycle {lag}"]:
    """Fold the past by phase: phase 0 is that of the first step forecast, cycles stand in order of time."""
    missing = -steps.shape[1] % lag
    return torch.nn.functional.pad(steps, (missing, 0)).unflatten(1, (-1, lag))
