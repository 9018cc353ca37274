"""Decoding over a cache is the full pass, whatever the pattern and the positions; a window needs bounded room."""

import itertools

import pytest
import torch
from torch import Tensor

from forecast.attention.cache import FullCache, KeysValues, RingCache, cache_for
from forecast.attention.multihead import MultiHeadAttention
from forecast.attention.patterns import Causal, Local, Pattern, Sparse
from forecast.attention.relation import Stand
from forecast.position import Alibi, NoPosition, Position, Relative, Rope

D_MODEL, HEADS = 12, 2
PATTERNS: list[Pattern] = [
    Causal(),
    Local(left=0, right=0),
    Local(left=1, right=0),
    Local(left=4, right=0),
    Sparse(left=1, num_global=2, num_random_blocks=1, block_length=2, season=5, causal=True),
]
POSITIONS: list[Position] = [NoPosition(), Rope(), Alibi(), Relative(num_buckets=8, reach=16)]
STEPS = 32  # more than three of the buffers of the widest window, which hold ten tokens
STRETCHES = {
    "token by token": [1] * STEPS,
    "a label, then token by token": [3] + [1] * (STEPS - 3),
    "several at a time": [2, 3, 1, 5, 4, 2, 6, 1, 1, 7],
    "more at once than a window holds": [20, 1, 1, 9, 1],
}


def make_attention(pattern: Pattern, position: Position = POSITIONS[0]) -> MultiHeadAttention:
    torch.manual_seed(3)
    relation = position.relate(HEADS, head_dim=D_MODEL // HEADS)
    attention = MultiHeadAttention(D_MODEL, num_heads=HEADS, pattern=pattern, backend="auto", relation=relation)
    for parameter in relation.parameters():
        torch.nn.init.normal_(parameter)  # a table of buckets starts from zeros
    return attention.eval()


def decode(attention: MultiHeadAttention, tokens: Tensor, cache, stretches: list[int]) -> Tensor:
    first, decoded = 0, []
    for new in tokens.split(stretches, dim=1):
        stand = Stand(first=float(first))
        decoded.append(attention(new, cache.append(attention.project(new, stand=stand)), stand=stand))
        first += new.shape[1]
    return torch.cat(decoded, dim=1)


def numbered(first: int, count: int) -> KeysValues:
    """Keys and values that say which position they are of."""
    numbers = torch.arange(first, first + count, dtype=torch.float32).view(1, 1, count, 1)
    return KeysValues(numbers, -numbers.expand(1, 1, count, 3))


@pytest.mark.parametrize("stretches", STRETCHES.values(), ids=STRETCHES.keys())
@pytest.mark.parametrize("position", POSITIONS, ids=lambda position: position.kind)
@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
@torch.inference_mode()
def test_decoding_over_any_cache_equals_the_pass_without_one(pattern, position, stretches):
    attention, tokens = make_attention(pattern, position), torch.randn(2, STEPS, D_MODEL)
    expected = attention(tokens, attention.project(tokens))
    for cache in (FullCache(STEPS), cache_for(pattern, capacity=STEPS)):
        torch.testing.assert_close(decode(attention, tokens, cache, stretches), expected, atol=1e-5, rtol=0)


def test_a_window_is_given_a_ring_where_that_takes_less_room_and_every_other_pattern_all_of_it():
    assert isinstance(cache_for(Local(left=4, right=0), capacity=11), RingCache)
    assert isinstance(cache_for(Local(left=4, right=0), capacity=10), FullCache)
    for pattern in (Causal(), Sparse(causal=True)):
        assert isinstance(cache_for(pattern, capacity=10_000), FullCache)


@pytest.mark.parametrize("counts", [[1], [2], [3, 1], [6, 1, 1], [7], [30, 1, 2], [1, 9, 40]], ids=repr)
@pytest.mark.parametrize("left", [0, 1, 5])
def test_ring_gives_the_newest_window_and_what_is_new_in_order(left, counts):
    ring, first = RingCache(left), 0
    for count in itertools.islice(itertools.cycle(counts), 40):
        seen = ring.append(numbered(first, count))
        expected = numbered(max(0, first - left), count + min(first, left))
        assert torch.equal(seen.keys, expected.keys)
        assert torch.equal(seen.values, expected.values)
        first += count


def test_ring_takes_no_more_room_however_long_decoding_goes_on():
    ring, rooms = RingCache(7), set()
    for step in range(5_000):
        seen = ring.append(numbered(step, 1))
        assert seen.keys.shape[2] <= 8
        rooms.add((seen.keys.untyped_storage().data_ptr(), seen.keys.untyped_storage().nbytes()))
    (room,) = rooms
    assert room[1] == 2 * 8 * 4  # two windows of one number of four bytes


def test_full_cache_copies_nothing_but_what_is_new():
    cache = FullCache(100)
    rooms = {cache.append(numbered(step, 1)).keys.untyped_storage().data_ptr() for step in range(100)}
    assert len(rooms) == 1


def test_full_cache_takes_no_more_than_it_has_room_for():
    cache = FullCache(3)
    cache.append(numbered(0, 3))
    with pytest.raises(AssertionError, match="room for all"):
        cache.append(numbered(3, 1))


@pytest.mark.parametrize("make", [lambda: FullCache(40), lambda: RingCache(3)], ids=["full", "ring"])
@torch.inference_mode()
def test_rows_that_share_their_past_go_on_as_if_they_had_been_apart_from_the_start(make):
    attention = make_attention(Local(left=3, right=0), Rope())
    label, later = torch.randn(2, 9, D_MODEL), torch.randn(6, 15, D_MODEL)
    whole = torch.cat([label.repeat_interleave(3, dim=0), later], dim=1)
    cache = make()
    cache.append(attention.project(label))
    cache.repeat(3)
    decoded = []
    for step in range(9, 24):
        stand = Stand(first=float(step))
        new = whole[:, step : step + 1]
        decoded.append(attention(new, cache.append(attention.project(new, stand=stand)), stand=stand))
    expected = attention(whole, attention.project(whole))[:, 9:]
    torch.testing.assert_close(torch.cat(decoded, dim=1), expected, atol=1e-5, rtol=0)
