"""The tensors of a call cut to blocks, as a layout says, and put back in order."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from forecast.attention.biases import Bias
from forecast.attention.kernels.block_layout import Layout, Part, Slab
from forecast.attention.patterns.blocked import Tokens

Rows = Float[Tensor, "batch head query dim"]
BlockRows = Float[Tensor, "block batch head row dim"]


def query_blocks(rows: Rows, plan: Layout) -> BlockRows:
    """Cut what has a row a query to blocks; the rows that blocks have to spare are zeros."""
    return _pad(rows, *plan.spare).unflatten(2, (plan.grid.count, plan.grid.width)).permute(2, 0, 1, 3, 4)


def in_order(blocks: BlockRows, plan: Layout) -> Rows:
    """Put rows of blocks back in order; what they have to spare falls away."""
    # Rows of all heads side by side, as kernels give them: so at most one copy is made, and none of a batch of one.
    rows = blocks.transpose(2, 3).transpose(0, 1).flatten(1, 2).transpose(1, 2)
    return rows[:, :, plan.spare[0] : rows.shape[2] - plan.spare[1]]


def with_room(rows: Float[Tensor, "batch head key dim"] | Bool[Tensor, "batch 1 key 1"], plan: Layout) -> Tokens:
    """Put zeros around keys, as far as blocks reach."""
    return Tokens(_pad(rows, *plan.room), plan.room[0])


def observed_rows(observed: Bool[Tensor, "batch key"]) -> Bool[Tensor, "batch 1 key 1"]:
    """Give which keys are observed the shape of keys."""
    return observed[:, None, :, None]


def taken(slab: Slab, tokens: Tokens) -> Tensor:
    """Give what the blocks of a slab look at, a view where it is one run."""
    found = [run.take(tokens, slab.grid) for run in slab.runs]
    return found[0] if len(found) == 1 else torch.cat(found, dim=3)


@dataclass(frozen=True, eq=False)
class Shade:
    """What hides and prefers keys in a part; sizes of 1 stand for all."""

    added: Bool[Tensor, "block batch head query key"] | Float[Tensor, "block batch head query key"]
    """Bool: True means "may look". Float: added to the scores."""
    blind: Bool[Tensor, "block_or_1 batch_or_1 1 query 1"] | None
    """Queries that see nothing; they look at all here and are to give zeros. None where there is none."""

    def folded(self, num_blocks: int, batch: int) -> Tensor:
        """Fold blocks and batch into one."""
        if self.added.shape[:2] == (1, 1):
            return self.added.flatten(0, 1)
        return self.added.expand(num_blocks, batch, -1, -1, -1).flatten(0, 1)

    def blinded(self, rows: Tensor) -> Tensor:
        """Put to zero what has a row a query where it sees nothing."""
        return rows if self.blind is None else rows.masked_fill(self.blind, 0.0)


def shade(
    part: Part, *, bias: Bias | None, observed: Bool[Tensor, "block batch 1 key 1"] | None, dtype: torch.dtype
) -> Shade:
    """Join mask, hidden keys and bias of a part."""
    mask, blind = part.mask.unsqueeze(1), None if part.blind is None else part.blind.unsqueeze(1)
    if observed is not None:
        mask = mask & observed.mT
        hidden = ~mask.any(dim=-1, keepdim=True)
        mask, blind = mask | hidden, hidden if blind is None else hidden | blind
    if bias is None:
        return Shade(mask, blind)
    return Shade(_written(bias, part).to(dtype).masked_fill(~mask, -torch.inf), blind)


def _written(bias: Bias, part: Part) -> Float[Tensor, "example 1 head query key"]:
    queries, keys = part.queries.unsqueeze(2).float(), part.keys.unsqueeze(1).float()
    return bias.score(queries, keys).transpose(0, 1).unsqueeze(1)


def _pad(rows: Tensor, before: int, behind: int) -> Tensor:
    return functional.pad(rows, (0, 0, before, behind)) if before or behind else rows
