"""Patches: a series of steps as a shorter series of tokens (Nie et al., "PatchTST", 2023)."""

from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.nn import functional


def num_patches(steps: int, *, patch_length: int) -> int:
    """Give how many patches hold the steps, the last or first one padded."""
    return -(-steps // patch_length)


def patch_from_right(
    steps: Shaped[Tensor, "batch step *feature"], *, patch_length: int
) -> Shaped[Tensor, "batch patch width"]:
    """Cut so that the newest step ends the last patch; the oldest patch is padded with 0 (False) on its left.

    Where steps have several features, a patch holds those of its first step, then of its second.
    """
    missing = -steps.shape[1] % patch_length
    return _patched(pad_steps(steps, before=missing), patch_length)


def patch_from_left(
    steps: Shaped[Tensor, "batch step *feature"], *, patch_length: int
) -> Shaped[Tensor, "batch patch width"]:
    """Cut so that the first step begins the first patch; the last patch is padded with 0 (False) on its right."""
    missing = -steps.shape[1] % patch_length
    return _patched(pad_steps(steps, after=missing), patch_length)


def pad_steps(
    steps: Shaped[Tensor, "batch step *feature"], *, before: int = 0, after: int = 0
) -> Shaped[Tensor, "batch padded *feature"]:
    """Put steps of 0 (False) before the first and after the last."""
    return functional.pad(steps, [0, 0] * (steps.ndim - 2) + [before, after])


def _patched(steps: Tensor, patch_length: int) -> Tensor:
    return steps.unflatten(1, (-1, patch_length)).flatten(2)


class PatchEmbedding(nn.Module):
    """One linear layer over everything known of a patch."""

    def __init__(self, num_features: int, d_model: int):
        super().__init__()
        self.projection = nn.Linear(num_features, d_model)

    def forward(self, features: Float[Tensor, "batch patch feature"]) -> Float[Tensor, "batch patch d_model"]:
        """Embed the patches."""
        return self.projection(features)
