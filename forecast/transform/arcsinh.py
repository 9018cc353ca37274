"""Arcsinh: a logarithm on both sides of zero, for prices and balances that turn negative."""

from typing import Literal

from jaxtyping import Float64
from pydantic import PositiveFloat
from torch import Tensor

from forecast.config import config
from forecast.transform.base import Transformation
from forecast.transform.pointwise import Pointwise


@config
class Arcsinh:
    """arcsinh(x / scale), of any value: straight around zero, a logarithm far from it (Burbidge et al. 1988)."""

    kind: Literal["arcsinh"] = "arcsinh"

    scale: PositiveFloat = 1.0
    """Where the straight part ends, in the caller's units."""

    def build(self) -> Transformation:
        """Build what the model holds."""
        return ArcsinhFunction(self.kind, scale=self.scale)


class ArcsinhFunction(Pointwise):
    """arcsinh(x / scale)."""

    def __init__(self, kind: str, *, scale: float):
        super().__init__(kind)
        self.scale = scale

    def change(self, values: Float64[Tensor, "..."]) -> Float64[Tensor, "..."]:
        return (values / self.scale).arcsinh()

    def restore(self, changed: Float64[Tensor, "..."]) -> Float64[Tensor, "..."]:
        return changed.sinh() * self.scale
