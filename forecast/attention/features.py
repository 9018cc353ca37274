"""Feature maps of linear attention: the weight of a pair is the product of two rows of positive features."""

import math
import random
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy.typing import NDArray
from pydantic import NonNegativeInt, PositiveInt
from scipy.special import ndtri
from torch import Tensor

from forecast.config import Tagged, config

NOTHING = -1e30
"""The log_scale of no key at all; unlike that of infinities, a difference of two is 0."""


@dataclass(frozen=True, eq=False)
class KeyFeatures:
    """The features of key j are `values[j] * exp(log_scale[j])`, written so that none of them under- or overflows."""

    values: Tensor
    """[batch, head, key, feature]"""
    log_scale: Tensor | None
    """[batch, head, key], a constant to autograd; None is 0 for every key."""

    def without_scale_of(self, hidden: Bool[Tensor, "batch key"]) -> "KeyFeatures":
        """Let no sum be scaled by the hidden keys, whose values are 0."""
        if self.log_scale is None:
            return self
        return KeyFeatures(self.values, self.log_scale.masked_fill(hidden.unsqueeze(1), NOTHING))


class FeatureMap(ABC):
    """Gives positive features, each row of them by itself: what one token is does not touch those of another."""

    @abstractmethod
    def of_queries(self, query: Float[Tensor, "batch head query key_dim"]) -> Float[Tensor, "batch head query feature"]:
        """Give the features of queries, each row up to a factor of its own: normalised weights do not know it."""

    @abstractmethod
    def of_keys(self, key: Float[Tensor, "batch head key key_dim"]) -> KeyFeatures:
        """Give the features of keys; their factors do count, and are kept as logarithms."""


@config
class Elu(FeatureMap):
    """elu(x) + 1 a channel (Katharopoulos et al., "Transformers are RNNs" 2020, equation 7)."""

    kind: Literal["elu"] = "elu"

    def of_queries(self, query: Float[Tensor, "batch head query key_dim"]) -> Float[Tensor, "batch head query feature"]:
        """Raise a row of negative channels alone until its largest feature is 1."""
        raised = query - query.detach().amax(dim=-1, keepdim=True).clamp(max=0)
        return _elu_plus_one(raised)

    def of_keys(self, key: Float[Tensor, "batch head key key_dim"]) -> KeyFeatures:
        """Need no scale: they grow with the channel, not with its exponential."""
        return KeyFeatures(_elu_plus_one(key), None)


@config
class PositiveRandom(FeatureMap):
    """exp(w . x - |x|^2 / 2) for random w: on average the product is the exponential of the score that softmax takes.

    Choromanski et al., "Rethinking Attention with Performers" (2021), lemma 1, with the orthogonal w of section 2.4.
    The error grows exponentially with the norm of queries and keys: no stand-in for the softmax of a trained model.
    """

    kind: Literal["random"] = "random"

    num_features: PositiveInt = 64
    """Features of a head."""

    seed: NonNegativeInt = 0
    """Of the random vectors; all heads share them."""

    def of_queries(self, query: Float[Tensor, "batch head query key_dim"]) -> Float[Tensor, "batch head query feature"]:
        """Leave |x|^2 out, a factor of the row, and scale each row so that its largest feature is 1."""
        products = self._products(query)
        return torch.exp(products - products.detach().amax(dim=-1, keepdim=True))

    def of_keys(self, key: Float[Tensor, "batch head key key_dim"]) -> KeyFeatures:
        """Scale each key by its own largest feature: nothing of other keys, before or after it, is looked at."""
        half_norm = key.square().sum(dim=-1, keepdim=True) / (2 * math.sqrt(key.shape[-1]))
        logarithms = self._products(key) - half_norm
        log_scale = logarithms.detach().amax(dim=-1)
        return KeyFeatures(torch.exp(logarithms - log_scale.unsqueeze(-1)), log_scale)

    def _products(self, tokens: Tensor) -> Float[Tensor, "batch head token feature"]:
        width = tokens.shape[-1]
        vectors = random_vectors(
            self.num_features, width=width, seed=self.seed, device=tokens.device, dtype=tokens.dtype
        )
        # Queries and keys each take half of the 1 / sqrt(width) that scores are scaled by.
        return (tokens * width**-0.25) @ vectors.T


AnyFeatures = Annotated[Elu | PositiveRandom, Tagged]


def random_vectors(
    count: int, *, width: int, seed: int, device: torch.device, dtype: torch.dtype
) -> Float[Tensor, "{count} {width}"]:
    """Give normal vectors of which each block of `width` is orthogonal; the same on every device and for good."""
    wanted = count, width, seed, device, dtype
    if wanted in _held:
        return _held[wanted]
    with torch.inference_mode(False):  # drawn in a forecast, they may be trained with afterwards
        vectors = torch.from_numpy(_drawn(count, width, seed)).to(device, dtype)
    if type(vectors) is Tensor:  # while a model is traced, tensors stand for others and hold no numbers
        _held[wanted] = vectors
    return vectors


_held: dict[tuple[int, int, int, torch.device, torch.dtype], Tensor] = {}


@lru_cache(maxsize=64)
def _drawn(count: int, width: int, seed: int) -> NDArray[np.float64]:
    """Draw from Python's generator, whose stream for a seed never changes: a trained model depends on it."""
    generator, num_blocks = random.Random(seed), -(-count // width)
    uniform = [generator.random() for _ in range(2 * num_blocks * width * width)]
    normal, others = ndtri(np.array(uniform)).reshape(2, num_blocks, width, width)
    # Directions are uniform only with the signs of the decomposition set; lengths are those of independent vectors.
    orthogonal, triangle = np.linalg.qr(normal)
    directions = (orthogonal * np.sign(np.diagonal(triangle, axis1=1, axis2=2))[:, None]).transpose(0, 2, 1)
    vectors = directions * np.linalg.norm(others, axis=2, keepdims=True)
    return np.ascontiguousarray(vectors.reshape(-1, width)[:count])


def _elu_plus_one(tokens: Tensor) -> Tensor:
    """Add two branches that are each exact; elu, then + 1, would round small features to 0."""
    return tokens.relu() + tokens.clamp(max=0).exp()
