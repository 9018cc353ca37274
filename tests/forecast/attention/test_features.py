"""The feature maps of linear attention: positive, exact, drawn once for all, and how near to a softmax."""

import math
from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.nn import functional

from forecast.attention import features as feature_maps
from forecast.attention.call import AttentionCall
from forecast.attention.choice import attend
from forecast.attention.features import Elu, PositiveRandom, random_vectors
from forecast.attention.kernels.linear import LinearKernel
from forecast.attention.patterns import Linear
from tests.forecast.attention.linear_calls import CAUSAL, draw, every_map, make_call


@every_map
def test_features_are_positive_and_one_row_knows_no_other(features):
    tokens = draw(2, 3, 9, 8)[0]
    keys, changed = features.of_keys(tokens), features.of_keys(torch.cat([tokens[:, :, :1], 7 * tokens[:, :, 1:]], 2))
    assert (keys.values > 0).all()
    assert torch.equal(keys.values[:, :, 0], changed.values[:, :, 0])
    assert keys.log_scale is None or torch.equal(keys.log_scale[:, :, 0], changed.log_scale[:, :, 0])
    assert features.of_queries(tokens).amax(dim=-1).min() >= 1 - 1e-12


def test_elu_keeps_small_features_exact():
    key = torch.tensor([-60.0, -10.0, 0.0, 3.0]).view(1, 1, 1, 4)
    expected = torch.tensor([math.exp(-60), math.exp(-10), 1.0, 4.0]).view(1, 1, 1, 4)
    torch.testing.assert_close(Elu().of_keys(key).values, expected, atol=0, rtol=1e-6)
    key.requires_grad_()
    slope = torch.autograd.grad(Elu().of_keys(key).values.sum(), key)[0]
    torch.testing.assert_close(slope, expected.clamp(max=1), atol=0, rtol=1e-6)


def vectors(count: int, width: int, seed: int = 0) -> torch.Tensor:
    return random_vectors(count, width=width, seed=seed, device=torch.device("cpu"), dtype=torch.float64)


def test_random_vectors_are_orthogonal_by_blocks_and_as_long_as_normal_ones():
    drawn = vectors(4000, 16)
    products = drawn[:16] @ drawn[:16].T
    torch.testing.assert_close(products, torch.diag(products.diagonal()), atol=1e-10, rtol=0)
    assert drawn.square().sum(dim=1).mean().item() == pytest.approx(16, rel=0.02)
    torch.testing.assert_close(drawn.T @ drawn / 4000, torch.eye(16, dtype=torch.float64), atol=0.06, rtol=0)
    assert drawn.mean(dim=0).abs().max() < 0.06


def test_random_vectors_depend_on_the_seed_alone_and_stay_what_they_are():
    first = vectors(20, 8).clone()
    forget()
    torch.manual_seed(99)
    assert torch.equal(vectors(20, 8), first)
    assert not torch.equal(vectors(20, 8, seed=1), first)
    trained_with = [0.5799, -0.0336, 0.7668]
    torch.testing.assert_close(first[0, :3], torch.tensor(trained_with, dtype=torch.float64), atol=1e-3, rtol=0)


def forget() -> None:
    feature_maps._held.clear()
    feature_maps._drawn.cache_clear()


def test_vectors_drawn_in_a_forecast_can_be_trained_with():
    forget()
    call = make_call(Linear(features=PositiveRandom(seed=8)), 5)
    with torch.inference_mode():
        LinearKernel().run(call)
    call.query.requires_grad_()
    LinearKernel().run(call).sum().backward()
    assert call.query.grad is not None


class Attending(nn.Module):
    """Attention as a module, for tracing."""

    def forward(self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """Attend to what came before."""
        return attend(AttentionCall(query, key, value, pattern=CAUSAL[1]))


def test_traced_kernel_computes_the_same_and_tracing_leaves_nothing_behind():
    forget()
    tensors = draw(2, 3, 100, 8)
    traced = torch.export.export(Attending(), tuple(tensors), strict=False).module()
    torch.testing.assert_close(traced(*tensors), Attending()(*tensors))


def softmax_error(num_features: int, *, length: int = 64, width: int = 32) -> float:
    """Give the mean error relative to softmax attention over several draws, for queries and keys of half the norm."""
    query, key, value = draw(1, 4, length, width)
    exact = functional.scaled_dot_product_attention(query / 2, key / 2, value)
    errors = []
    for seed in range(8):
        pattern = Linear(features=PositiveRandom(num_features=num_features, seed=seed))
        ours = LinearKernel().run(AttentionCall(query / 2, key / 2, value, pattern=pattern))
        errors.append(((ours - exact).norm() / exact.norm()).item())
    return sum(errors) / len(errors)


def test_more_random_features_come_closer_to_the_softmax():
    errors = [softmax_error(count) for count in (16, 64, 256, 1024)]
    for fewer, more in pairwise(errors):
        assert more < 0.7 * fewer
    assert errors[-1] < 0.2
