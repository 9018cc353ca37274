"""The sums that linear attention is made of: over all keys at once, or over those up to each query.

Features come in rows with a factor exp(log_scale) of their own, so that a sum never under- or overflows: each is scaled
by the largest factor among the keys that it holds, and by no other. A key can so not touch what came before it.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from forecast.attention.features import NOTHING, KeyFeatures

LEAST = 1e-30
"""Sums of weights below are made of what single precision left of underflow, and gradients would overflow."""


@dataclass(frozen=True, eq=False)
class Summary:
    """The sum over keys of features x (value, 1): `sums * exp(log_scale)`, of one size however many the keys."""

    sums: Tensor
    """[batch, head, feature, value_dim + 1]; the last column is the sum of the features alone."""
    log_scale: Tensor
    """[batch, head]: the largest of the keys in it."""

    @classmethod
    def of_nothing(cls, keys: KeyFeatures, values: Tensor) -> "Summary":
        """Give the sum over no key, for such features and values."""
        batch, heads, _, width = keys.values.shape
        sums = values.new_zeros(batch, heads, width, values.shape[-1])
        return cls(sums, values.new_full((batch, heads), NOTHING))

    def rows(self, chosen: Int64[Tensor, " chosen"]) -> "Summary":
        """Give the sums of the chosen batch rows."""
        return Summary(self.sums[chosen], self.log_scale[chosen])


def with_ones(
    value: Float[Tensor, "batch head key value_dim"], observed: Bool[Tensor, "batch key"] | None
) -> Float[Tensor, "batch head key value_dim_and_1"]:
    """Put a 1 behind each value, whose sum normalises the weights; a hidden key has 0 in all places."""
    extended = torch.cat([value, value.new_ones(*value.shape[:-1], 1)], dim=-1)
    return extended if observed is None else extended * observed[:, None, :, None]


def normalised(
    totals: Float[Tensor, "batch head query value_dim_and_1"],
) -> Float[Tensor, "batch head query value_dim"]:
    """Divide by the sum of the weights; a query that saw nothing, or too little to tell it from nothing, gets zeros."""
    summed, weight = totals[..., :-1], totals[..., -1:]
    return summed / torch.where(weight > LEAST, weight, torch.inf)


def extended(before: Summary, keys: KeyFeatures, values: Float[Tensor, "batch head key value_dim_and_1"]) -> Summary:
    """Add all keys to a summary."""
    sums, log_scale = _sum_up(keys.values, keys.log_scale, values)
    largest = torch.maximum(before.log_scale, log_scale)
    kept, added = (torch.exp(scale - largest)[:, :, None, None] for scale in (before.log_scale, log_scale))
    return Summary(kept * before.sums + added * sums, largest)


def causal_sums(
    queries: Float[Tensor, "batch head token feature"],
    keys: KeyFeatures,
    values: Float[Tensor, "batch head token value_dim_and_1"],
    before: Summary,
    *,
    chunk: int,
) -> tuple[Float[Tensor, "batch head token value_dim_and_1"], Summary]:
    """Give for each query the sum over `before` and the keys up to its own, and the sum over all of them.

    The pairs inside each chunk of so many tokens, a divisor of their number, are written out; a sum stands for all
    chunks before it.
    """
    query, key, value = (rows.unflatten(2, (-1, chunk)) for rows in (queries, keys.values, values))
    log_scale = None if keys.log_scale is None else keys.log_scale.unflatten(2, (-1, chunk))
    sums, log_scales = _running(before, *_sum_up(key, log_scale, value))
    decay, decay_before = _decays(log_scale, log_scales[..., :-1], like=query)
    weights = query @ key.transpose(-2, -1) * decay
    earlier = query @ sums[:, :, :-1]
    totals = weights @ value + (earlier if decay_before is None else earlier * decay_before.unsqueeze(-1))
    return totals.flatten(2, 3), Summary(sums[:, :, -1], log_scales[..., -1])


def _sum_up(features: Tensor, log_scale: Tensor | None, values: Tensor) -> tuple[Tensor, Tensor]:
    """Sum over the last but one dimension, that of the keys, scaled by the largest of them."""
    if log_scale is None:
        return features.transpose(-2, -1) @ values, features.new_zeros(features.shape[:-2])
    largest = log_scale.amax(dim=-1, keepdim=True)
    scaled = values * torch.exp(log_scale - largest).unsqueeze(-1)
    return features.transpose(-2, -1) @ scaled, largest.squeeze(-1)


def _running(
    before: Summary,
    sums: Float[Tensor, "batch head chunk feature column"],
    log_scales: Float[Tensor, "batch head chunk"],
) -> tuple[Float[Tensor, "batch head one_more feature column"], Float[Tensor, "batch head one_more"]]:
    """Add the sums up chunk by chunk, each rescaled to the largest scale so far; the first is `before`."""
    each = torch.cat([before.log_scale.unsqueeze(-1), log_scales], dim=-1)
    largest = each.cummax(dim=-1).values
    decay = _decay_to(largest, each)
    stacked = torch.cat([before.sums.unsqueeze(2), sums], dim=2)
    return (decay @ stacked.flatten(3)).unflatten(3, stacked.shape[3:]), largest


def _decays(
    log_scale: Tensor | None, before: Float[Tensor, "batch head chunk"], *, like: Tensor
) -> tuple[Tensor, Tensor | None]:
    """Give what each query weighs the keys of its chunk with, and the sum before the chunk: 0 for later keys."""
    chunk = like.shape[-2]
    if log_scale is None:
        return like.new_ones(chunk, chunk).tril(), None
    largest = torch.maximum(log_scale.cummax(dim=-1).values, before.unsqueeze(-1))
    return _decay_to(largest, log_scale), torch.exp(before.unsqueeze(-1) - largest)


def _decay_to(largest: Float[Tensor, "*rest row"], log_scale: Float[Tensor, "*rest row"]) -> Tensor:
    """Give exp(log_scale[j] - largest[i]) for each j up to i, and 0 for later ones."""
    return (log_scale.unsqueeze(-2) - largest.unsqueeze(-1)).clamp_(max=0).exp_().tril_()
