"""Heads and their losses: one file a family, one line in the union."""

from typing import Annotated

from forecast.config import Tagged
from forecast.losses.base import Head, PointHead, masked_mean
from forecast.losses.point import AbsoluteError, HuberError, SquaredError
from forecast.losses.quantile import Quantile
from forecast.losses.student_t import StudentT

AnyHead = Annotated[Quantile | StudentT | SquaredError | AbsoluteError | HuberError, Tagged]

__all__ = [
    "AbsoluteError",
    "AnyHead",
    "Head",
    "HuberError",
    "PointHead",
    "Quantile",
    "SquaredError",
    "StudentT",
    "masked_mean",
]
