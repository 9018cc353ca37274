"""Where blocks of queries find their keys, and which of these each query sees: from the pattern's definition alone.

It depends on pattern and lengths, not on the tensors, so that it is made once and kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from forecast.attention.patterns.blocked import Blocked, Grid, Run

PAIRS_AT_ONCE = 2**18  # of query and key while a mask is made, so that its numbers of 8 bytes take a few MB
KEPT = 16  # layouts: a model has a few patterns, and a service a few lengths


@dataclass(frozen=True, eq=False)
class Part:
    """Neighbouring blocks under one mask, or each under its own."""

    count: int
    queries: Int64[Tensor, "example query"]
    """Positions; where blocks are alike those of one are an example of all."""
    keys: Int64[Tensor, "example key"]
    mask: Bool[Tensor, "block_or_1 1 query key"]
    """Rows that would see nothing see all here: a softmax over nothing is no number."""
    blind: Bool[Tensor, "block_or_1 1 query 1"] | None
    """Those of them that stand in the sequence; None where there is none."""


@dataclass(frozen=True, eq=False)
class Slab:
    """Neighbouring blocks whose keys are copied together."""

    grid: Grid
    runs: tuple[Run, ...]
    parts: tuple[Part, ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """All blocks of a call, and the newest queries, which are computed apart over all keys."""

    grid: Grid
    slabs: tuple[Slab, ...]
    spare: tuple[int, int]
    """How many queries the blocks have before the first and behind the last that is there."""
    room: tuple[int, int]
    """How many tokens beyond the beginning and the end of the keys are read."""
    apart: Part | None


def layout(pattern: Blocked, num_queries: int, num_keys: int, *, blocks_at_once: int, device: torch.device) -> Layout:
    """Give the layout, kept where it is one of a whole sequence: every step of a decoder has another."""
    give = _kept if num_queries == num_keys else _make
    return give(pattern, num_queries, num_keys, blocks_at_once, device)


@lru_cache(maxsize=256)
def num_candidates(pattern: Blocked, num_queries: int, num_keys: int) -> int:
    """Give how many keys are copied for each block."""
    grid = pattern.grid(num_queries, num_keys)
    return sum(run.length for run in pattern.runs(grid.part(0, 1), num_keys, device=torch.device("cpu")))


def over_all_keys(pattern: Blocked, num_queries: int, num_keys: int, *, device: torch.device) -> Part:
    """Put the newest queries into one block that looks at all keys."""
    keys = torch.arange(num_keys, device=device).unsqueeze(0)
    queries = keys[:, num_keys - num_queries :]
    seen = pattern.may_look(queries.unsqueeze(2), keys.unsqueeze(1), num_keys=num_keys)
    return _part(1, queries, keys, seen, there=torch.ones_like(queries, dtype=torch.bool))


@torch.inference_mode(False)  # made in a forecast, it may be trained with afterwards
def _make(pattern: Blocked, num_queries: int, num_keys: int, blocks_at_once: int, device: torch.device) -> Layout:
    grid = pattern.grid(num_queries, num_keys)
    pieces = [grid.part(start, blocks_at_once) for start in range(0, grid.count, blocks_at_once)]
    slabs = tuple(_slab(pattern, piece, num_queries, num_keys, device) for piece in pieces)
    reaches = [run.reach(slab.grid) for slab in slabs for run in slab.runs]
    room = max(0, -min(first for first, _ in reaches)), max(0, max(stop for _, stop in reaches) - num_keys)
    num_apart = pattern.num_apart(num_keys)
    apart = over_all_keys(pattern, num_apart, num_keys, device=device) if num_apart else None
    lead = num_keys - num_queries - grid.first
    return Layout(grid, slabs, (lead, grid.count * grid.width - lead - num_queries), room, apart)


_kept = lru_cache(maxsize=KEPT)(_make)


def _slab(pattern: Blocked, grid: Grid, num_queries: int, num_keys: int, device: torch.device) -> Slab:
    runs = pattern.runs(grid, num_keys, device=device)
    keys = torch.cat([_positions(run, grid, device) for run in runs], dim=1)
    queries = grid.starts(device).unsqueeze(1) + torch.arange(grid.width, device=device)
    there = (queries >= num_keys - num_queries) & (queries < num_keys)
    known = (keys >= 0) & (keys < num_keys)
    inside, alike = there.all(dim=1) & known.all(dim=1), pattern.knows_distance_alone
    known = known & _is_first(keys)
    parts = []
    for start, count, same in _cut(inside, alike=alike):
        those = slice(start, start + (1 if same else count))
        mask = _mask(pattern, queries[those], keys[those], known[those], num_keys)
        example = those if not alike else slice(0, 1)
        parts.append(_part(count, queries[example], keys[example], mask, there=there[those]))
    return Slab(grid, runs, tuple(parts))


def _positions(run: Run, grid: Grid, device: torch.device) -> Int64[Tensor, "block key"]:
    starts = torch.as_tensor(run.starts(grid), device=device).expand(grid.count)
    return starts.unsqueeze(1) + torch.arange(run.length, device=device)


def _is_first(keys: Int64[Tensor, "block key"]) -> Bool[Tensor, "block key"]:
    """Tell where a key stands for the first time in its block, so that none is counted twice."""
    ordered, order = keys.sort(dim=1, stable=True)
    fresh = torch.ones_like(keys, dtype=torch.bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return torch.zeros_like(fresh).scatter(1, order, fresh)


def _cut(inside: Bool[Tensor, " block"], *, alike: bool) -> Iterator[tuple[int, int, bool]]:
    """Give start, count and whether one mask serves all: of the blocks inside, and of those at either edge."""
    places = inside.nonzero().flatten().tolist()
    first, stop = (places[0], places[-1] + 1) if alike and places else (0, 0)
    for start, end, same in ((0, first, False), (first, stop, True), (stop, len(inside), False)):
        if end > start:
            yield start, end - start, same


def _mask(pattern: Blocked, queries: Tensor, keys: Tensor, known: Tensor, num_keys: int) -> Tensor:
    """Ask the definition, a few blocks at a time."""
    at_once = max(1, PAIRS_AT_ONCE // (queries.shape[1] * keys.shape[1]))
    seen = []
    for some in torch.arange(len(queries), device=queries.device).split(at_once):
        looks = pattern.may_look(queries[some].unsqueeze(2), keys[some].unsqueeze(1), num_keys=num_keys)
        seen.append(looks & known[some].unsqueeze(1))
    return torch.cat(seen)


def _part(count: int, queries: Tensor, keys: Tensor, mask: Tensor, *, there: Bool[Tensor, "block query"]) -> Part:
    sees_nothing = ~mask.any(dim=-1, keepdim=True)
    blind = sees_nothing & there.unsqueeze(-1)
    opened = (mask | sees_nothing).unsqueeze(1)
    return Part(count, queries, keys, opened, blind.unsqueeze(1) if blind.any() else None)
