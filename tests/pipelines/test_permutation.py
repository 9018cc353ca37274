"""An order gives every number once, is decided by its seeds, and favours no place."""

from collections import Counter
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.permutation import Permutation


def order(length: int, *seeds: int) -> list[int]:
    return Permutation(length, seeds=list(seeds)).at(np.arange(length)).tolist()


@given(length=st.integers(0, 5_000), seed=st.integers(0, 2**40), epoch=st.integers(0, 50))
def test_every_number_comes_once_and_the_seeds_decide_where(length, seed, epoch):
    numbers = order(length, seed, epoch)
    assert sorted(numbers) == list(range(length))
    assert order(length, seed, epoch) == numbers


@pytest.mark.parametrize("length", [*range(1, 100), 4_095, 4_096, 4_097, 65_536, 1_000_003])
def test_no_length_is_a_special_case(length):
    assert np.bincount(order(length, 1)).tolist() == [1] * length


@given(places=st.lists(st.integers(0, 999), max_size=20))
def test_a_place_has_its_number_whatever_is_asked_beside_it(places):
    whole, permutation = order(1_000, 8), Permutation(1_000, seeds=[8])
    assert permutation.at(np.array(places, dtype=np.int64)).tolist() == [whole[place] for place in places]


def test_a_hundred_million_numbers_take_no_memory():
    permutation = Permutation(10**8, seeds=[3])
    numbers = permutation.at(np.arange(10**8 - 50_000, 10**8))
    assert len(np.unique(numbers)) == 50_000
    assert 0 <= numbers.min() < 10**5
    assert 10**8 - 10**5 < numbers.max() < 10**8


def test_neighbouring_seeds_have_unrelated_orders():
    orders = np.array([order(2_000, seed, epoch) for seed in range(3) for epoch in range(3)])
    same_place = (orders[:, None] == orders[None]).sum(axis=2)
    assert (same_place - 2_000 * np.eye(9)).max() < 12  # one in 2,000 lies at its place by chance


@pytest.mark.parametrize("length", [3, 4])
def test_all_orders_of_a_few_numbers_are_about_as_likely(length):
    num_orders, num_draws = factorial(length), 20 * factorial(length)
    counts = Counter(tuple(order(length, seed)) for seed in range(num_draws))
    assert len(counts) == num_orders
    surprise = sum((count - 20) ** 2 / 20 for count in counts.values()) / max(1, num_orders - 1)
    assert surprise < 2


def test_numbers_are_spread_over_the_whole_order():
    numbers = np.array(order(10_000, 4))
    assert abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) < 0.04
    assert abs(np.corrcoef(numbers, np.arange(10_000))[0, 1]) < 0.04
