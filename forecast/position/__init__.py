"""Position schemes: one file each, one line in the union."""

from typing import Annotated

from forecast.config import Tagged
from forecast.position.alibi import Alibi
from forecast.position.base import PositionEncoding
from forecast.position.learned import Learned
from forecast.position.none import NoPosition
from forecast.position.relative import Relative
from forecast.position.rope import Rope
from forecast.position.sinusoidal import Sinusoidal

Position = Annotated[NoPosition | Sinusoidal | Learned | Rope | Alibi | Relative, Tagged]

__all__ = [
    "Alibi",
    "Learned",
    "NoPosition",
    "Position",
    "PositionEncoding",
    "Relative",
    "Rope",
    "Sinusoidal",
]
