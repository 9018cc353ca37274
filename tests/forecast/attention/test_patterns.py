"""What each pattern lets be seen, said in words and checked pair by pair."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from forecast.attention.patterns import Causal, Full, Local, Sparse


def table(pattern, length: int) -> torch.Tensor:
    positions = torch.arange(length)
    return pattern.may_look(positions[:, None], positions[None, :], num_keys=length)


def pairs(pattern, length: int) -> set[tuple[int, int]]:
    return {(query, key) for query, key in table(pattern, length).nonzero().tolist()}


def test_full_causal_and_local_are_what_their_names_say():
    everything = {(query, key) for query in range(6) for key in range(6)}
    assert pairs(Full(), 6) == everything
    assert pairs(Causal(), 6) == {(query, key) for query, key in everything if key <= query}
    assert pairs(Local(left=2, right=1), 6) == {(query, key) for query, key in everything if -2 <= key - query <= 1}


def bare(**options) -> Sparse:
    return Sparse(**{"left": 0, "right": 0, "num_global": 0, "num_random_blocks": 0, **options})


def test_each_kind_of_sparse_link_alone():
    own = {(place, place) for place in range(8)}
    assert pairs(bare(), 8) == own
    assert pairs(bare(left=1), 8) == own | {(place, place - 1) for place in range(1, 8)}
    newest = {(7, key) for key in range(8)} | {(query, 7) for query in range(8)}
    assert pairs(bare(num_global=1), 8) == own | newest
    assert pairs(bare(num_global=1, causal=True), 8) == own | {(query, 0) for query in range(8)}
    apart = {(query, key) for query in range(8) for key in range(8) if abs(query - key) in (0, 3, 6)}
    assert pairs(bare(season=3, num_seasons=2), 8) == apart
    assert pairs(bare(season=3, num_seasons=1), 8) == {(q, k) for q, k in apart if abs(q - k) <= 3}


@pytest.mark.parametrize("causal", [False, True])
def test_random_links_are_whole_blocks_and_the_same_for_one_seed_alone(causal):
    pattern = bare(num_random_blocks=2, block_length=4, random_reach=64, causal=causal)
    seen = table(pattern, 64)
    far = (torch.arange(64)[:, None] - torch.arange(64)[None, :]).abs() > 4
    assert (seen & far).any()
    blocks = seen.view(16, 4, 16, 4).permute(0, 2, 1, 3).flatten(2)
    off_diagonal = ~torch.eye(16, dtype=torch.bool)
    assert (blocks.all(dim=-1) == blocks.any(dim=-1))[off_diagonal].all()
    assert blocks.all(dim=-1)[off_diagonal.view(16, 16) & True].sum() <= 2 * 16
    assert torch.equal(seen, table(pattern, 64))
    other = bare(num_random_blocks=2, block_length=4, random_reach=64, causal=causal, seed=1)
    assert not torch.equal(seen, table(other, 64))


SPARSE = Sparse(left=2, right=1, num_global=2, block_length=4, random_reach=32, season=5)


@given(length=st.integers(1, 60), padding=st.integers(1, 30))
def test_padding_on_the_left_moves_no_link_of_a_context(length, padding):
    assert torch.equal(table(SPARSE, length + padding)[padding:, padding:], table(SPARSE, length))


@given(length=st.integers(1, 60), more=st.integers(1, 30))
def test_decoding_on_moves_no_link_of_a_causal_pattern(length, more):
    pattern = Sparse(left=2, num_global=2, block_length=4, random_reach=32, season=5, causal=True)
    seen = table(pattern, length + more)
    assert torch.equal(seen[:length, :length], table(pattern, length))
    assert not seen.triu(1).any()
