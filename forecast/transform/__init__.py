"""Transforms of the target: one file a variant, one line in the union."""

from typing import Annotated

from forecast.config import Tagged
from forecast.transform.arcsinh import Arcsinh
from forecast.transform.base import Transformation, Transformed
from forecast.transform.box_cox import BoxCox
from forecast.transform.checks import outside_series, refuse_outside_series
from forecast.transform.difference import Difference
from forecast.transform.identity import Identity
from forecast.transform.log1p import Log1p

Transform = Annotated[Identity | Log1p | BoxCox | Arcsinh | Difference, Tagged]

__all__ = [
    "Arcsinh",
    "BoxCox",
    "Difference",
    "Identity",
    "Log1p",
    "Transform",
    "Transformation",
    "Transformed",
    "outside_series",
    "refuse_outside_series",
]
