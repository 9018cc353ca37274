"""The gated feed-forward layer SwiGLU."""

from typing import Literal

from jaxtyping import Float
from pydantic import PositiveInt
from torch import Tensor, nn
from torch.nn import functional

from forecast.config import config


@config
class SwiGlu:
    """A hidden layer gated by SiLU, two thirds as wide, so that the weights stay as many (Shazeer 2020)."""

    kind: Literal["swiglu"] = "swiglu"

    expansion: PositiveInt = 4
    """Width that an ungated layer of as many weights would have, in units of d_model."""

    def build(self, d_model: int, *, dropout: float) -> nn.Module:
        """Give the layer, [..., d_model] to [..., d_model]."""
        return GatedLayer(d_model, width=2 * self.expansion * d_model // 3, dropout=dropout)


class GatedLayer(nn.Module):
    """(SiLU(gate) * hidden) projected back."""

    def __init__(self, d_model: int, *, width: int, dropout: float):
        super().__init__()
        self.gate_and_hidden = nn.Linear(d_model, 2 * width)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(width, d_model)

    def forward(self, tokens: Float[Tensor, "... d_model"]) -> Float[Tensor, "... d_model"]:
        """Gate, drop, project."""
        gate, hidden = self.gate_and_hidden(tokens).chunk(2, dim=-1)
        return self.output(self.dropout(functional.silu(gate) * hidden))
