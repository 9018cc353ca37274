"""No position information: the encoder then treats its tokens as a set."""

from typing import Literal

from forecast.config import config
from forecast.position.base import Scheme


@config
class NoPosition(Scheme):
    """Tokens carry no position."""

    kind: Literal["none"] = "none"
