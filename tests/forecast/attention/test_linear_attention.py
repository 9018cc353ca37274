"""Linear attention: its features, its kernel, its state, and that nothing of the future reaches the past."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from forecast.attention import features as feature_maps
from forecast.attention import state
from forecast.attention.call import AttentionCall
from forecast.attention.choice import attend, choose
from forecast.attention.features import Elu, PositiveRandom, random_vectors
from forecast.attention.kernels.linear import LinearKernel
from forecast.attention.kernels.reference import ReferenceKernel, attention_weights
from forecast.attention.patterns import Linear
from forecast.attention.state import LinearState
from forecast.config import build_config
from forecast.errors import ConfigError
from forecast.model.config import ModelConfig

FEATURES = [Elu(), PositiveRandom(num_features=24, seed=5)]
PATTERNS = [Linear(features=features, causal=causal) for features in FEATURES for causal in (False, True)]
CAUSAL = [pattern for pattern in PATTERNS if pattern.causal]
LENGTHS = (1, 2, 63, 64, 65, 128, 200, 300)

every_pattern = pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
every_causal = pytest.mark.parametrize("pattern", CAUSAL, ids=repr)
every_map = pytest.mark.parametrize("features", FEATURES, ids=repr)


def draw(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    """Draw queries, keys and values of one shape."""
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype) for _ in range(3)]


def make_call(pattern, length: int, *, hidden: bool = False, seed: int = 0, dtype=torch.float64) -> AttentionCall:
    observed = None
    if hidden:
        observed = torch.rand(2, length, generator=torch.Generator().manual_seed(seed)) > 0.4
        observed[0, : length // 2] = False
        observed[1] &= length % 2 == 0  # of odd lengths the second row sees nothing at all
    return AttentionCall(*draw(2, 3, length, 8, seed=seed, dtype=dtype), pattern=pattern, key_observed=observed)


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


# ---- The state


def in_steps(features, call: AttentionCall, lengths: list[int]) -> torch.Tensor:
    decoding, first, outputs = LinearState(features), 0, []
    for length in lengths:
        new = slice(first, first + length)
        observed = None if call.key_observed is None else call.key_observed[:, new]
        parts = (tensor[:, :, new] for tensor in (call.query, call.key, call.value))
        outputs.append(decoding.step(*parts, key_observed=observed))
        first += length
    assert decoding.length == first
    return torch.cat(outputs, dim=2)


@pytest.mark.parametrize("lengths", [[1] * 160, [90, *[1] * 70], [64, 1, 95], [3, 100, 57]], ids=lambda some: some[:3])
@pytest.mark.parametrize("hidden", [False, True])
@every_causal
def test_steps_equal_the_full_pass(pattern, hidden, lengths):
    call = make_call(pattern, 160, hidden=hidden, dtype=torch.float32)
    whole = LinearKernel().run(call)
    torch.testing.assert_close(in_steps(pattern.features, call, lengths), whole, atol=1e-5, rtol=0)
    torch.testing.assert_close(ReferenceKernel().run(call), whole, atol=1e-5, rtol=0)


@pytest.mark.parametrize("factor", [1.5, 100.0])
@every_causal
def test_steps_already_taken_do_not_know_what_follows(pattern, factor):
    call = make_call(pattern, 30, dtype=torch.float32)
    changed = AttentionCall(call.query, call.key.clone(), call.value.clone(), pattern=pattern)
    changed.key[:, :, 20:] *= factor
    for lengths in ([1] * 30, [15, *[1] * 15], [30]):
        before, after = (in_steps(pattern.features, some, lengths) for some in (call, changed))
        assert torch.equal(after[:, :, :20], before[:, :, :20])
        assert not torch.allclose(after[:, :, 20:], before[:, :, 20:])


@every_map
def test_state_does_not_grow(features):
    endless = LinearState(features)
    sizes = set()
    for step in range(300):
        endless.step(*draw(2, 3, 1, 8, seed=step, dtype=torch.float32))
        held = endless.summary.sums, endless.summary.log_scale
        sizes.add(sum(tensor.untyped_storage().nbytes() for tensor in held))
    assert len(sizes) == 1
    assert endless.length == 300


@every_map
def test_chosen_rows_go_on_by_themselves(features):
    before = LinearState(features)
    first, second = draw(3, 2, 9, 8, seed=1), draw(4, 2, 5, 8, seed=2)
    assert before.rows(torch.tensor([0])).summary is None
    before.step(*first)
    chosen = torch.tensor([2, 0, 0, 2])
    output = before.rows(chosen).step(*second)
    for row, source in enumerate(chosen):
        alone = LinearState(features)
        alone.step(*(tensor[source, None] for tensor in first))
        torch.testing.assert_close(output[row, None], alone.step(*(tensor[row, None] for tensor in second)))
    assert before.length == 9


def test_empty_state_has_nothing_to_look_at():
    with pytest.raises(RuntimeError, match="empty; call take_in or step"):
        LinearState(Elu()).look(draw(1, 1, 1, 4)[0])


# ---- The features


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


# ---- Choice, refusals and configuration


@every_pattern
def test_auto_takes_the_linear_kernel(pattern):
    call = make_call(pattern, 4)
    assert choose(call).name == "linear"
    assert torch.equal(attend(call), LinearKernel().run(call))


def configured(**sections) -> ModelConfig:
    return build_config(ModelConfig, {"context_length": 16, "horizon": 4, **sections})


LINEAR = {"kind": "linear"}


def test_pattern_is_configured_with_its_features():
    chosen = {"kind": "linear", "features": {"kind": "random", "num_features": 8}}
    assert configured(pattern=chosen).pattern == Linear(features=PositiveRandom(num_features=8))
    with pytest.raises(ConfigError, match="num_features"):
        configured(pattern={"kind": "linear", "features": {"kind": "elu", "num_features": 8}})


@pytest.mark.parametrize("where", ["encoder", "decoder", "direct"])
@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"position": {"kind": "alibi"}}, "position 'alibi' acts .* use position 'sinusoidal', 'learned' or 'none'"),
        ({"position": {"kind": "relative"}}, "position 'relative' acts .* use position 'sinusoidal'"),
        ({"position": {"kind": "rope"}}, "position 'rope' acts .* use position 'sinusoidal'"),
        ({"layer": {"attention_backend": "sdpa"}}, "attention_backend 'sdpa' does not serve both.* 'auto'"),
        ({"layer": {"attention_backend": "linear"}}, "attention_backend 'linear' does not serve both.* 'auto'"),
        ({"layer": {"attention_dropout": 0.1}}, "set attention_dropout to 0, or use backend 'reference'"),
    ],
)
def test_what_linear_attention_cannot_do_is_refused_when_configured(where, sections, message):
    patterns = {
        "encoder": {"pattern": LINEAR},
        "decoder": {"decoder": {"kind": "autoregressive", "pattern": {**LINEAR, "causal": True}}},
        "direct": {"decoder": {"kind": "direct", "pattern": LINEAR}},
    }[where]
    configured(**patterns)
    configured(**sections)
    with pytest.raises(ConfigError, match=message):
        configured(**patterns, **sections)


def test_decoder_that_is_not_causal_is_refused():
    with pytest.raises(ConfigError, match="cannot look ahead and pattern 'linear' does"):
        configured(decoder={"kind": "autoregressive", "pattern": LINEAR})


@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned"])
def test_positions_that_are_added_to_tokens_are_accepted(kind):
    assert configured(pattern=LINEAR, position={"kind": kind}).position.kind == kind


def test_dropout_is_served_by_the_reference_alone():
    call = make_call(Linear(), 5)
    dropping = AttentionCall(call.query, call.key, call.value, pattern=Linear(), dropout=0.5)
    assert "use backend 'reference'" in LinearKernel().refusal(dropping)
    assert ReferenceKernel().refusal(dropping) is None
    configured(pattern=LINEAR, layer={"attention_dropout": 0.1, "attention_backend": "reference"})
