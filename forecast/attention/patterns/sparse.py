"""The sparse pattern: a window, global tokens, random links and links a season apart, at a cost linear in length."""

import math
from typing import Literal

import torch
from jaxtyping import Bool, Int64
from pydantic import NonNegativeInt, PositiveInt
from torch import Tensor

from forecast.attention.patterns.base import Positions
from forecast.attention.patterns.blocked import Beside, Blocked, Common, Drawn, Grid, Run, window, window_width
from forecast.config import config

MIXERS = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)  # odd constants of xxHash: neighbours come out unrelated
BITS = 31
WIDTHS = (32, 128)  # of blocks of queries that are worth a call of their own each; beyond, they look at too much


@config
class Sparse(Blocked):
    """Window, global tokens and random blocks as in Zaheer et al., "Big Bird" (2020), and seasonal links beside them.

    Everything is counted from the end that does not move: from the newest token, or from the first where the pattern is
    causal. So padding on the left of a context, or one more decoded step, leaves every link where it was. Random
    blocks lie at distances drawn evenly on a logarithmic scale, as far as `random_reach` (Kleinberg 2000: of all
    scales that one makes every token reachable in fewest hops); what is drawn beyond the sequence is not there.
    """

    kind: Literal["sparse"] = "sparse"

    left: NonNegativeInt = 64
    """Keys seen before a query's own position."""

    right: NonNegativeInt = 64
    """Keys seen after it; ignored where the pattern is causal."""

    num_global: NonNegativeInt = 16
    """Tokens that see all and are seen by all: the newest, or the first where the pattern is causal."""

    num_random_blocks: NonNegativeInt = 2
    """Blocks of keys that each block of queries sees beside its window."""

    block_length: PositiveInt = 64
    """Tokens of a block of random links."""

    random_reach: PositiveInt = 8192
    """Tokens that a random link spans at most."""

    season: PositiveInt | None = None
    """Tokens of a season: positions whole seasons apart see each other."""

    num_seasons: PositiveInt = 2
    """Seasons that such a link spans at most."""

    seed: int = 0
    """Of the random links."""

    causal: bool = False
    """Whether a query sees nothing after its own position."""

    @property
    def looks_ahead(self) -> bool:
        """Unless it is causal."""
        return not self.causal

    def may_look(self, query: Positions, key: Positions, *, num_keys: int) -> Bool[Tensor, "..."]:
        """Join all links, and hide every later key where the pattern is causal."""
        distance = key - query
        seen = (distance >= -self.left) & (distance <= self.right) | self._in_season(distance)
        query, key = self.anchored(query, num_keys=num_keys), self.anchored(key, num_keys=num_keys)
        seen = seen | (query < self.num_global) | (key < self.num_global)
        for number in range(self.num_random_blocks):
            drawn = self.random_block(query // self.block_length, number=number)
            seen = seen | (key // self.block_length == drawn)
        return seen & (distance <= 0) if self.causal else seen

    def anchored(self, positions: Positions, *, num_keys: int) -> Positions:
        """Count positions from the end that does not move."""
        return positions if self.causal else num_keys - 1 - positions

    def random_block(self, block: Int64[Tensor, "..."], *, number: int) -> Int64[Tensor, "..."]:
        """Give the block that a block of queries is linked to, in anchored counting; it may lie beyond the sequence."""
        farthest = max(1, self.random_reach // self.block_length)
        share = _hash(block, self.seed, 2 * number).double() / 2**BITS
        distance = torch.exp(share * math.log(farthest)).round().to(torch.int64)
        if self.causal:
            return block - distance
        return torch.where(_hash(block, self.seed, 2 * number + 1) % 2 == 0, block - distance, block + distance)

    @property
    def knows_distance_alone(self) -> bool:
        """Where there are neither global tokens nor random links."""
        return not (self.num_global or self.num_random_blocks)

    def num_apart(self, num_keys: int) -> int:
        """The global tokens; causal ones see nothing but each other."""
        return 0 if self.causal else min(self.num_global, num_keys)

    def grid(self, num_queries: int, num_keys: int) -> Grid:
        """Let all queries of a block share their random links."""
        edge = 0 if self.causal else num_keys
        return Grid.over(num_queries, num_keys, width=self._width(num_queries), edge=edge)

    def runs(self, grid: Grid, num_keys: int, *, device: torch.device) -> tuple[Run, ...]:
        """Name the window, the global tokens, the blocks drawn, and the shifts by whole seasons."""
        found: list[Run] = [window(self.left, 0 if self.causal else self.right, grid=grid, device=device)]
        if self.num_global:
            length = min(self.num_global, num_keys)
            found.append(Common(0 if self.causal else num_keys - length, length))
        return (*found, *self._seasons(grid, num_keys, device), *self._drawn(grid, num_keys, device))

    def _width(self, num_queries: int) -> int:
        narrow, wide = WIDTHS
        if not self.num_random_blocks:
            return min(num_queries, window_width(self.left + (0 if self.causal else self.right)))
        most = min(num_queries, wide)
        divisor = next(width for width in range(most, 0, -1) if self.block_length % width == 0)
        return divisor if divisor >= min(narrow, num_queries) // 2 else self.block_length

    def _drawn(self, grid: Grid, num_keys: int, device: torch.device) -> list[Run]:
        num_blocks = -(-num_keys // self.block_length)
        own = self.anchored(grid.starts(device), num_keys=num_keys) // self.block_length
        drawn = [self.random_block(own, number=number) for number in range(self.num_random_blocks)]
        if self.causal:
            return [Drawn(numbers, 0, self.block_length, num_blocks) for numbers in drawn]
        edge = num_keys - num_blocks * self.block_length
        return [Drawn(num_blocks - 1 - numbers, edge, self.block_length, num_blocks) for numbers in drawn]

    def _seasons(self, grid: Grid, num_keys: int, device: torch.device) -> list[Run]:
        if self.season is None:
            return []
        spans = min(self.num_seasons, (num_keys - 1) // self.season)
        ahead = [] if self.causal else range(1, spans + 1)
        return [Beside(span * self.season, grid.width, device) for span in (*range(-spans, 0), *ahead)]

    def _in_season(self, distance: Positions) -> Bool[Tensor, "..."]:
        if self.season is None:
            return torch.zeros_like(distance, dtype=torch.bool)
        return (distance % self.season == 0) & (distance.abs() <= self.num_seasons * self.season)


def _hash(block: Int64[Tensor, "..."], *salts: int) -> Int64[Tensor, "..."]:
    """Mix block numbers and salts to numbers below 2**BITS, the same on every device."""
    mixed = block
    for salt, mixer in zip((0, *salts), MIXERS, strict=True):
        mixed = ((mixed + salt + 1) * mixer) & (2**BITS - 1)
        mixed = mixed ^ (mixed >> 15)
    return mixed
