"""Linear attention computes its definition, and nothing of the future reaches the past."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from forecast.attention import state
from forecast.attention.call import AttentionCall
from forecast.attention.features import Elu, PositiveRandom, random_vectors
from forecast.attention.kernels.linear import LinearKernel
from forecast.attention.kernels.reference import ReferenceKernel, attention_weights
from forecast.attention.patterns import Linear
from tests.forecast.attention.linear_calls import PATTERNS, draw, every_causal, every_pattern, make_call

LENGTHS = (1, 2, 63, 64, 65, 128, 200, 300)


def with_gradients(kernel, call: AttentionCall) -> list[torch.Tensor]:
    leaves = [tensor.clone().requires_grad_() for tensor in (call.query, call.key, call.value)]
    output = kernel.run(AttentionCall(*leaves, pattern=call.pattern, key_observed=call.key_observed))
    return [output.detach(), *torch.autograd.grad((output**2).sum(), leaves)]


# ---- The kernel computes the definition


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("length", LENGTHS)
@every_pattern
def test_values_and_gradients_are_those_of_the_definition(pattern, length, hidden):
    call = make_call(pattern, length, hidden=hidden)
    for ours, expected in zip(
        with_gradients(LinearKernel(), call), with_gradients(ReferenceKernel(), call), strict=True
    ):
        assert torch.isfinite(ours).all()
        torch.testing.assert_close(ours, expected, atol=1e-10, rtol=1e-10)


@every_pattern
def test_several_slabs_are_computed_anew_for_the_same_gradients(pattern, monkeypatch):
    monkeypatch.setattr(state, "CHUNK", 8)
    monkeypatch.setattr(state, "SLAB_ROWS", {"cpu": 6 * 24})
    call = make_call(pattern, 101, hidden=True)
    for ours, expected in zip(
        with_gradients(LinearKernel(), call), with_gradients(ReferenceKernel(), call), strict=True
    ):
        torch.testing.assert_close(ours, expected, atol=1e-10, rtol=1e-10)


@given(
    pattern=st.sampled_from(PATTERNS),
    queries=st.integers(1, 150),
    keys=st.integers(1, 150),
    hidden=st.booleans(),
    scale=st.sampled_from([0.0, 0.3, 1.0, 3.0]),
)
def test_single_precision_is_within_a_millionth(pattern, queries, keys, hidden, scale):
    call = make_call(pattern, keys, hidden=hidden, dtype=torch.float32)
    query = scale * draw(2, 3, queries, 8, seed=1, dtype=torch.float32)[0]
    call = AttentionCall(query, scale * call.key, call.value, pattern=pattern, key_observed=call.key_observed)
    exact = [tensor.double() for tensor in (call.query, call.key, call.value)]
    expected = ReferenceKernel().run(AttentionCall(*exact, pattern=pattern, key_observed=call.key_observed))
    torch.testing.assert_close(LinearKernel().run(call).double(), expected, atol=4e-6, rtol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@every_pattern
def test_half_precision_is_rounded_at_the_end_alone(pattern, dtype):
    call = make_call(pattern, 300, dtype=dtype)
    exact = AttentionCall(call.query.float(), call.key.float(), call.value.float(), pattern=pattern)
    expected = LinearKernel().run(exact).to(dtype)
    assert torch.equal(LinearKernel().run(call), expected)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(LinearKernel().run(call), expected)


@every_pattern
def test_definition_is_the_product_of_the_features_in_proportion(pattern):
    call = make_call(pattern, 7)
    features = written_features(pattern.features, call.query), written_features(pattern.features, call.key)
    products = (features[0] @ features[1].transpose(-2, -1)) * call.visible()
    expected = products / products.sum(dim=-1, keepdim=True)
    torch.testing.assert_close(attention_weights(call), expected, atol=1e-12, rtol=1e-10)


def written_features(features, tokens: torch.Tensor) -> torch.Tensor:
    """Write the features out as the papers do, without any scale."""
    if isinstance(features, Elu):
        return functional.elu(tokens) + 1
    turned = tokens / tokens.shape[-1] ** 0.25
    vectors = random_vectors(
        features.num_features, width=tokens.shape[-1], seed=features.seed, device=tokens.device, dtype=tokens.dtype
    )
    return torch.exp(turned @ vectors.T - turned.square().sum(dim=-1, keepdim=True) / 2)


def test_worked_example_of_two_tokens():
    query, key = torch.tensor([[0.0], [2.0]]), torch.tensor([[1.0], [-math.log(2)]])  # features 1, 3 and 2, 1/2
    value = torch.tensor([[10.0], [20.0]])
    call = AttentionCall(query[None, None], key[None, None], value[None, None], pattern=Linear())
    assert LinearKernel().run(call).flatten().tolist() == pytest.approx([12.0, 12.0])
    call = AttentionCall(query[None, None], key[None, None], value[None, None], pattern=Linear(causal=True))
    assert LinearKernel().run(call).flatten().tolist() == pytest.approx([10.0, 12.0])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("size", [10.0, 100.0])
@every_pattern
def test_large_queries_and_keys_stay_finite_with_their_gradients(pattern, size, dtype):
    call = make_call(pattern, 130, dtype=dtype, hidden=True)
    large = AttentionCall(size * call.query, size * call.key, call.value, pattern=pattern)
    assert all(torch.isfinite(tensor).all() for tensor in with_gradients(LinearKernel(), large))


@pytest.mark.parametrize("causal", [False, True])
def test_keys_of_very_different_norms_do_not_underflow(causal):
    """The smallest keys have features e^60 times those of the largest; rows that see these alone still sum to 1."""
    pattern = Linear(features=PositiveRandom(num_features=16), causal=causal)
    query, key, value = draw(1, 1, 200, 16, dtype=torch.float32)
    key = torch.cat([3 * functional.normalize(key[:, :, :100], dim=-1) * 8, 0.1 * key[:, :, 100:]], dim=2)
    call = AttentionCall(query, key, torch.ones_like(value), pattern=pattern)
    torch.testing.assert_close(LinearKernel().run(call), torch.ones_like(value), atol=1e-5, rtol=0)
    call = AttentionCall(query, key, value, pattern=pattern)
    exact = AttentionCall(query.double(), key.double(), value.double(), pattern=pattern)
    torch.testing.assert_close(LinearKernel().run(call).double(), ReferenceKernel().run(exact), atol=1e-4, rtol=0)


@pytest.mark.parametrize("causal", [False, True])
def test_hidden_keys_do_not_scale_those_that_are_seen(causal):
    """The features of a hidden key near 0 are e^90 times those of the others, and would scale them to nothing."""
    query, key, value = draw(1, 1, 100, 16, dtype=torch.float32)
    hidden = torch.arange(100) % 2 == 0
    key = torch.where(hidden[:, None], 0.01 * key, 30 * functional.normalize(key, dim=-1))
    pattern = Linear(features=PositiveRandom(num_features=16), causal=causal)
    call = AttentionCall(query, key, torch.ones_like(value), pattern=pattern, key_observed=~hidden[None])
    expected = torch.ones_like(value)
    expected[:, :, 0] = expected[:, :, 0] * (not causal)  # sees one hidden key, and so nothing
    torch.testing.assert_close(LinearKernel().run(call), expected, atol=1e-5, rtol=0)


# ---- Nothing of the future reaches the past


@pytest.mark.parametrize("changed_from", [1, 50, 64, 130])
@pytest.mark.parametrize("factor", [1.5, 100.0, 0.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@every_causal
def test_future_never_reaches_the_past_to_the_bit(pattern, dtype, factor, changed_from):
    call = make_call(pattern, 200, dtype=dtype)
    changed = AttentionCall(call.query, call.key.clone(), call.value.clone(), pattern=pattern)
    changed.key[:, :, changed_from:] *= factor
    changed.value[:, :, changed_from:] += 50 * factor
    before, after = LinearKernel().run(call), LinearKernel().run(changed)
    assert torch.equal(after[:, :, :changed_from], before[:, :, :changed_from])
    assert not torch.allclose(after[:, :, changed_from:], before[:, :, changed_from:])


@every_causal
def test_past_has_no_gradient_to_the_future(pattern):
    call = make_call(pattern, 150)
    leaves = [tensor.requires_grad_() for tensor in (call.query, call.key, call.value)]
    LinearKernel().run(call)[:, :, :70].square().sum().backward()
    for leaf in leaves:
        assert (leaf.grad[:, :, 70:] == 0).all()
        assert (leaf.grad[:, :, :70] != 0).any()


@every_causal
def test_smaller_future_keys_do_not_swallow_a_past_of_large_ones(pattern):
    """The usual maximum over all keys would scale the old rows by it to 0, and a small number added would leak."""
    query, key, value = draw(1, 1, 300, 8, dtype=torch.float32)
    large = functional.normalize(key, dim=-1) * 12
    expected = LinearKernel().run(AttentionCall(query, large, value, pattern=pattern))
    large[:, :, 40:] /= 1000
    after = LinearKernel().run(AttentionCall(query, large, value, pattern=pattern))
    torch.testing.assert_close(after[:, :, :40], expected[:, :, :40], atol=1e-6, rtol=0)
