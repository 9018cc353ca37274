"""Sinusoidal positions: fixed waves of geometric wavelengths, defined for every position."""

import math
from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int64
from pydantic import PositiveFloat
from torch import Tensor

from forecast.config import config
from forecast.position.base import PositionEncoding, Scheme


@config
class Sinusoidal(Scheme):
    """Sines and cosines of the position (Vaswani et al. 2017, section 3.5)."""

    kind: Literal["sinusoidal"] = "sinusoidal"
    adds: ClassVar[bool] = True

    longest_wavelength: PositiveFloat = 10_000.0
    """In units of 2 pi tokens."""

    def build(self, d_model: int, *, num_positions: int) -> PositionEncoding:
        """Give the module; the number of trained positions does not matter to it."""
        return SinusoidalEncoding(d_model, longest_wavelength=self.longest_wavelength)


class SinusoidalEncoding(PositionEncoding):
    """Even channels hold sines, odd channels cosines, of one frequency a pair."""

    frequencies: Tensor

    def __init__(self, d_model: int, *, longest_wavelength: float):
        super().__init__()
        self.d_model = d_model
        exponents = torch.arange(0, d_model, 2) / d_model
        self.register_buffer("frequencies", torch.exp(-math.log(longest_wavelength) * exponents), persistent=False)

    def forward(self, positions: Int64[Tensor, " token"]) -> Float[Tensor, "token d_model"]:
        """Give the waves at the positions."""
        angles = positions[:, None] * self.frequencies
        return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, : self.d_model]
