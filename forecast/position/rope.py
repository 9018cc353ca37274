"""Rotary positions (RoPE): queries and keys are turned, so that their product knows how far apart they stand."""

import math
from typing import Literal

import torch
from jaxtyping import Float
from pydantic import PositiveFloat
from torch import Tensor

from forecast.attention.relation import Relation, Stand
from forecast.config import config
from forecast.position.base import Scheme


@config
class Rope(Scheme):
    """Turns pairs of channels (Su et al., "RoFormer" 2021, section 3.2.2)."""

    kind: Literal["rope"] = "rope"

    longest_wavelength: PositiveFloat = 10_000.0
    """In units of 2 pi tokens."""

    def relate(self, num_heads: int, *, head_dim: int) -> Relation:
        """Give the turn; every attention has the same, and nothing is trained."""
        return RopeRelation(head_dim, longest_wavelength=self.longest_wavelength)


class RopeRelation(Relation):
    """Channel i and channel i + head_dim / 2 are one pair; the channel left over by an odd width is not turned."""

    frequencies: Tensor

    def __init__(self, head_dim: int, *, longest_wavelength: float):
        super().__init__()
        half = head_dim // 2
        exponents = torch.arange(half) / max(half, 1)
        self.register_buffer("frequencies", torch.exp(-math.log(longest_wavelength) * exponents), persistent=False)

    def rotate(
        self, heads: Float[Tensor, "batch head token head_dim"], stand: Stand
    ) -> Float[Tensor, "batch head token head_dim"]:
        """Turn each pair by its place times its frequency; angles are taken in fp32 whatever the heads are in."""
        angles = stand.places(heads.shape[2], device=heads.device)[:, None] * self.frequencies
        cos, sin = angles.cos().to(heads.dtype), angles.sin().to(heads.dtype)
        half = len(self.frequencies)
        one, other, rest = heads.split([half, half, heads.shape[-1] - 2 * half], dim=-1)
        return torch.cat([one * cos - other * sin, other * cos + one * sin, rest], dim=-1)
