"""Statistics of windows over their observed steps alone."""

import torch
from jaxtyping import Bool, Float64
from torch import Tensor


def mean_observed(
    steps: Float64[Tensor, "batch step"], observed: Bool[Tensor, "batch step"]
) -> Float64[Tensor, "batch 1"]:
    """Give the mean of the observed steps; 0 where there is none."""
    count = observed.sum(dim=1, keepdim=True).clamp(min=1)
    return (steps * observed / count).sum(dim=1, keepdim=True)  # divided first: a sum of large values would overflow


def newest_observed(
    steps: Float64[Tensor, "batch step"], observed: Bool[Tensor, "batch step"]
) -> Float64[Tensor, "batch 1"]:
    """Give the newest observed step; 0 where there is none."""
    if steps.shape[1] == 0:
        return steps.new_zeros(len(steps), 1)
    place = torch.where(observed, torch.arange(steps.shape[1], device=steps.device), 0).argmax(dim=1, keepdim=True)
    return (steps * observed).gather(1, place)
