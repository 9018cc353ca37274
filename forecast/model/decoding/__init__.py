"""Decoders: one file each, one line in the union."""

from typing import Annotated

from forecast.config import Tagged
from forecast.model.decoding.autoregressive import Autoregressive
from forecast.model.decoding.base import Decoder, Given, Known, Setting, Target
from forecast.model.decoding.direct import Direct

AnyDecoder = Annotated[Autoregressive | Direct, Tagged]

__all__ = ["AnyDecoder", "Autoregressive", "Decoder", "Direct", "Given", "Known", "Setting", "Target"]
