"""How the tokens of one attention stand to each other: a turn of queries and keys, or a bias on the scores."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from forecast.attention.biases import Bias


@dataclass(frozen=True)
class Stand:
    """Where a row of tokens stands, in tokens: at `first`, `first + step`, and so on."""

    first: float = 0.0
    step: float = 1.0

    def places(self, count: int, *, device: torch.device) -> Float[Tensor, " token"]:
        """Give where each of the first `count` tokens stands."""
        return self.first + self.step * torch.arange(count, device=device)

    def moved(self, distance: float) -> "Stand":
        """Give where they stand when the count begins so much earlier."""
        return Stand(self.first + distance, self.step)


class Relation(nn.Module):
    """What one attention knows of distances: by itself nothing."""

    def rotate(
        self, heads: Float[Tensor, "batch head token head_dim"], stand: Stand
    ) -> Float[Tensor, "batch head token head_dim"]:
        """Turn queries or keys by where they stand, so that their products know the distance."""
        return heads

    def bias(self) -> Bias | None:
        """Give what is added to the scores for the distance."""
        return None
