"""Box-Cox: a power of the value, or its logarithm, chosen by hand or by maximum likelihood."""

from typing import Annotated, Literal

import numpy as np
import torch
from jaxtyping import Float64, Int64
from pydantic import Field
from torch import Tensor

from forecast.config import config
from forecast.errors import TrainingError
from forecast.frames.panel import Panel
from forecast.transform.base import Transformation
from forecast.transform.domain import Domain
from forecast.transform.likelihood import fit_power
from forecast.transform.pointwise import Pointwise

# From this power on the -1 of Box and Cox is left out: the scaling of windows takes a constant out anyway, and with it
# a value of 1e-8 would keep half its digits. Below, it joins the powers to the logarithm and costs no digits.
POWER = 0.1


@config
class BoxCox:
    """(x^power - 1) / power, the logarithm at power 0 (Box & Cox, "An Analysis of Transformations", 1964).

    Takes positive values, and 0 too where the power is above 0. Powers below 0 are left out: they press all large
    values under a ceiling, and a forecast above it would stand for no value at all.
    """

    kind: Literal["box_cox"] = "box_cox"

    power: Annotated[float, Field(ge=0, le=1)] | None = None
    """From 0, the logarithm, to 1, the value itself; fitted on the training part where not given."""

    def build(self) -> Transformation:
        """Build what the model holds."""
        return BoxCoxFunction(self.kind, power=self.power)


class BoxCoxFunction(Pointwise):
    """The power stands among the model's weights; nothing works before it is given or fitted."""

    power: Tensor

    def __init__(self, kind: str, *, power: float | None):
        super().__init__(kind)
        self.is_to_fit = power is None
        start = torch.nan if power is None else power
        self.register_buffer("power", torch.tensor(start, dtype=torch.float64))

    @property
    def domain(self) -> Domain:
        return Domain(lowest=0.0, closed=bool(self.power > 0))

    def fit(self, panel: Panel, *, ends: Int64[np.ndarray, " series"]) -> None:
        if self.is_to_fit:
            self.power.fill_(fit_power(panel, ends=ends))

    def change(self, values: Float64[Tensor, "..."]) -> Float64[Tensor, "..."]:
        power = self._known_power()
        if power >= POWER:
            return values.pow(power) / power
        return values.log() if power == 0 else (values.log() * power).expm1() / power

    def restore(self, changed: Float64[Tensor, "..."]) -> Float64[Tensor, "..."]:
        power = self._known_power()
        if power >= POWER:
            return (changed * power).clamp(min=0).pow(1 / power)
        if power == 0:
            return changed.exp().clamp(min=torch.finfo(changed.dtype).tiny)
        return ((changed * power).clamp(min=-1).log1p() / power).exp()

    def _known_power(self) -> float:
        power = float(self.power)
        if np.isnan(power):
            raise TrainingError("the power of box_cox is not fitted yet; fit the model, or give transform.power")
        return power
