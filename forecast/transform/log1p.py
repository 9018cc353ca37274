"""Log1p: the logarithm of 1 + x, for counts and for what grows by shares."""

from typing import Literal

from jaxtyping import Float64
from torch import Tensor

from forecast.config import config
from forecast.transform.base import Transformation
from forecast.transform.domain import Domain
from forecast.transform.pointwise import Pointwise

ABOVE_MINUS_1 = -1.0 + 2.0**-53  # the float64 next to -1: a forecast fed back must be one that the logarithm takes


@config
class Log1p:
    """log(1 + x) of values above -1; no forecast falls below -1, and one of counts can still be a little below 0."""

    kind: Literal["log1p"] = "log1p"

    def build(self) -> Transformation:
        """Build what the model holds."""
        return Log1pFunction(self.kind)


class Log1pFunction(Pointwise):
    """log(1 + x), exact for small x too."""

    @property
    def domain(self) -> Domain:
        return Domain(lowest=-1.0, closed=False)

    def change(self, values: Float64[Tensor, "..."]) -> Float64[Tensor, "..."]:
        return values.log1p()

    def restore(self, changed: Float64[Tensor, "..."]) -> Float64[Tensor, "..."]:
        return changed.expm1().clamp(min=ABOVE_MINUS_1)
