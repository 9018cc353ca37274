"""The contract of a position scheme, over the whole union, and what sets each scheme apart."""

import math
from typing import get_args

import pytest
import torch

from forecast.errors import ContextTooLong
from forecast.position import Learned, NoPosition, Position, Sinusoidal

SCHEMES = [scheme() for scheme in get_args(get_args(Position)[0])]
D_MODEL, TRAINED = 16, 10

every_scheme = pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.kind)


def build(scheme, *, d_model: int = D_MODEL):
    return scheme.build(d_model, num_positions=TRAINED)


@every_scheme
@pytest.mark.parametrize("d_model", [1, 5, D_MODEL])
def test_each_position_has_one_finite_vector(scheme, d_model):
    vectors = build(scheme, d_model=d_model)(torch.arange(TRAINED))
    assert vectors.shape == (TRAINED, d_model)
    assert vectors.isfinite().all()


@every_scheme
def test_a_vector_depends_on_its_own_position_alone(scheme):
    encoding, asked = build(scheme), torch.tensor([7, 0, 3, 3])
    assert torch.equal(encoding(asked), encoding(torch.arange(TRAINED))[asked])


@pytest.mark.parametrize("scheme", [scheme for scheme in SCHEMES if scheme.adds], ids=lambda scheme: scheme.kind)
def test_positions_can_be_told_apart(scheme):
    vectors = build(scheme)(torch.arange(TRAINED))
    distances = torch.cdist(vectors, vectors) + torch.eye(TRAINED)
    assert distances.min() > 1e-2


@every_scheme
def test_a_position_never_trained_is_served_or_refused_with_a_way_out(scheme):
    encoding = build(scheme)
    if isinstance(scheme, Learned):
        with pytest.raises(
            ContextTooLong, match=r"know 10 tokens and 12 were given; shorten the context.*'sinusoidal'"
        ):
            encoding(torch.arange(TRAINED + 2))
    else:
        assert encoding(torch.tensor([50 * TRAINED])).isfinite().all()


def test_learned_positions_reach_exactly_as_far_as_the_table():
    encoding = build(Learned())
    assert encoding(torch.tensor([TRAINED - 1])).shape == (1, D_MODEL)
    with pytest.raises(ContextTooLong):
        encoding(torch.tensor([TRAINED]))


def test_learned_positions_learn():
    encoding = build(Learned())
    encoding(torch.tensor([2, 4])).sum().backward()
    assert encoding.table.weight.grad.sum(dim=1).nonzero().flatten().tolist() == [2, 4]


@pytest.mark.parametrize("longest_wavelength", [10_000.0, 50.0])
def test_sinusoidal_positions_are_those_of_the_paper(longest_wavelength):
    encoding = build(Sinusoidal(longest_wavelength=longest_wavelength))
    for position in (0, 1, 9, 500):
        expected = []
        for pair in range(D_MODEL // 2):
            angle = position / longest_wavelength ** (2 * pair / D_MODEL)
            expected += [math.sin(angle), math.cos(angle)]
        assert encoding(torch.tensor([position]))[0].tolist() == pytest.approx(expected, abs=1e-4)


def test_sinusoidal_positions_keep_nothing_among_the_weights():
    encoding = build(Sinusoidal())
    assert not encoding.state_dict()
    assert not list(encoding.parameters())


def test_no_position_adds_nothing():
    assert not build(NoPosition())(torch.arange(TRAINED)).any()
