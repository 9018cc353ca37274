"""A seeded order of any length that is computed where it is asked for: no number is kept in memory."""

from math import isqrt

import numpy as np
from jaxtyping import Int64, UInt64

NUM_ROUNDS = 4  # as many make a Feistel network look random to whoever may ask anything (Luby & Rackoff 1988)
SMALLEST_SIDE = 8  # in a smaller square some orders of a few numbers would come far more often than others

Numbers = Int64[np.ndarray, " number"]


class Permutation:
    """Every number below `length` once, in an order that the seeds alone decide.

    A Feistel network over pairs of numbers whose sums are taken modulo the square root of the length, walked on where
    it leaves the range: Black & Rogaway, "Ciphers with Arbitrary Finite Domains" (2002).
    """

    def __init__(self, length: int, *, seeds: list[int]):
        self.length = length
        self._side = np.uint64(max(isqrt(max(length - 1, 0)) + 1, SMALLEST_SIDE))
        # Hashed together: were they added, epoch 1 of seed 0 would repeat epoch 0 of seed 1.
        self._keys = np.random.SeedSequence(seeds).generate_state(NUM_ROUNDS, np.uint64)

    def at(self, places: Numbers) -> Numbers:
        """Give the numbers that stand at the places asked for, each from 0 to below the length."""
        numbers = self._scramble(places.astype(np.uint64))
        outside = np.flatnonzero(numbers >= self.length)
        while len(outside):  # the square is hardly larger than the length, so that few walk, and not far
            numbers[outside] = self._scramble(numbers[outside])
            outside = outside[numbers[outside] >= self.length]
        return numbers.astype(np.int64)

    def _scramble(self, numbers: UInt64[np.ndarray, " number"]) -> UInt64[np.ndarray, " number"]:
        left, right = np.divmod(numbers, self._side)
        for key in self._keys:
            left, right = right, (left + _mix(right ^ key) % self._side) % self._side
        return left * self._side + right


def _mix(bits: UInt64[np.ndarray, " number"]) -> UInt64[np.ndarray, " number"]:
    """Spread every bit over all: the finaliser of SplitMix64 (Steele, Lea & Flood 2014)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
