"""Position schemes: one file each, one line in the union."""

from typing import Annotated

from forecast.config import Tagged
from forecast.position.base import PositionEncoding
from forecast.position.learned import Learned
from forecast.position.none import NoPosition
from forecast.position.sinusoidal import Sinusoidal

Position = Annotated[NoPosition | Sinusoidal | Learned, Tagged]

__all__ = ["Learned", "NoPosition", "Position", "PositionEncoding", "Sinusoidal"]
