"""Identity: values as they are."""

from typing import Literal

from jaxtyping import Float64
from torch import Tensor

from forecast.config import config
from forecast.frames.panel import Panel
from forecast.transform.base import Transformation
from forecast.transform.pointwise import Pointwise


@config
class Identity:
    """Values as they are; a forecast then scales and shifts with its series."""

    kind: Literal["identity"] = "identity"

    def build(self) -> Transformation:
        """Build what the model holds."""
        return IdentityFunction(self.kind)


class IdentityFunction(Pointwise):
    """x, to the bit."""

    @property
    def is_affine(self) -> bool:
        return True

    def transform_panel(self, panel: Panel) -> Panel:
        return panel

    def change(self, values: Float64[Tensor, "..."]) -> Float64[Tensor, "..."]:
        return values

    def restore(self, changed: Float64[Tensor, "..."]) -> Float64[Tensor, "..."]:
        return changed
