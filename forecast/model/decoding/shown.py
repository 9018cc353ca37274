"""What the autoregressive decoder is shown: patches of label and horizon in a row, and what is known beside them."""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from forecast.model.decoding.base import Known
from forecast.model.patching import patch_from_left, patch_from_right


@dataclass(frozen=True, eq=False)
class Shown:
    """Patches as the decoder is shown them, [batch, patch, width] each."""

    values: Tensor
    observed: Tensor
    drafted: Tensor | None
    """The draft of the patch itself: what it missed is shown."""
    coming: Tensor | None
    """The draft of the patch to be forecast from here."""
    ahead: Tensor | None
    """The covariates of that patch that are known ahead."""

    def features(self) -> Float[Tensor, "batch patch feature"]:
        """Lay everything known of a patch side by side."""
        parts = [self.values, self.observed.to(self.values.dtype)]
        if self.drafted is not None and self.coming is not None:
            parts += [(self.values - self.drafted) * self.observed, self.coming]
        if self.ahead is not None:
            parts.append(self.ahead)
        return torch.cat(parts, dim=-1)


@dataclass(frozen=True, eq=False)
class Patches:
    """What is known of a window before the first forecast step, cut into patches."""

    label: Float[Tensor, "batch label width"]
    label_observed: Bool[Tensor, "batch label width"]
    drafts: Float[Tensor, "batch patch width"] | None
    """The drafts of label and horizon in a row."""
    ahead: Float[Tensor, "batch patch ahead_width"] | None
    """What is known ahead of the same."""

    def show(self, values: Tensor, observed: Tensor, *, first: int) -> Shown:
        """Show patches, the first of which has the number `first` in the row of label and horizon."""
        last = first + values.shape[1]
        drafted, _ = self.beside(first, last)
        coming, ahead = self.beside(first + 1, last + 1)
        return Shown(values, observed, drafted=drafted, coming=coming, ahead=ahead)

    def beside(self, first: int, last: int) -> tuple[Tensor | None, Tensor | None]:
        """Give the drafts of the patches from `first` to before `last`, and what is known ahead of them."""
        return _between(self.drafts, first, last), _between(self.ahead, first, last)

    def repeated(self, times: int) -> "Patches":
        """Give every row several times, one copy beside the other."""
        rows = {name: _repeated(part, times) for name, part in vars(self).items()}
        return replace(self, **rows)


def lay_patches(known: Known, *, patch_length: int, label_length: int) -> Patches:
    """Cut what is known of a window into patches; a label longer than the past begins with unobserved steps."""
    missing = max(0, label_length - known.past.shape[1])
    observed = functional.pad(known.past_observed[:, -label_length:], (missing, 0))
    values = functional.pad(known.past[:, -label_length:], (missing, 0)) * observed
    drafts = None
    if known.draft is not None and known.label_draft is not None:
        drafts = torch.cat(
            [patch_from_left(draft, patch_length=patch_length) for draft in (known.label_draft, known.draft)], dim=1
        )
    return Patches(
        label=patch_from_right(values, patch_length=patch_length),
        label_observed=patch_from_right(observed, patch_length=patch_length),
        drafts=drafts,
        ahead=None if known.ahead is None else patch_from_left(known.ahead, patch_length=patch_length),
    )


def _between(patches: Tensor | None, first: int, last: int) -> Tensor | None:
    return None if patches is None else patches[:, first:last]


def _repeated(patches: Tensor | None, times: int) -> Tensor | None:
    return None if patches is None else patches.repeat_interleave(times, dim=0)
