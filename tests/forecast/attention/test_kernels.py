"""Every kernel computes the one written definition, and says so when it cannot."""

import logging
import math

import pytest
import torch

from forecast.attention import choice
from forecast.attention.biases import BucketBias, SlopeBias
from forecast.attention.call import AttentionCall
from forecast.attention.choice import KERNELS, attend, choose
from forecast.attention.features import PositiveRandom
from forecast.attention.kernels.reference import ReferenceKernel, attention_weights
from forecast.attention.patterns import Causal, Full, Linear, Local, Pattern, Sparse
from forecast.errors import BackendUnavailable

CPU_KERNELS = [name for name in KERNELS if name not in ("xformers", "flex")]  # flex is compiled: test_flex.py
SOFTMAX_KERNELS = [name for name in CPU_KERNELS if name != "linear"]
PATTERNS = [
    Full(),
    Causal(),
    Local(left=2, right=1),
    Local(left=2, right=0),
    Sparse(left=1, right=0, num_global=1, num_random_blocks=1, block_length=2, season=3),
    Sparse(left=1, num_global=1, num_random_blocks=1, block_length=2, causal=True),
    Linear(),
    Linear(causal=True),
    Linear(features=PositiveRandom(num_features=12)),
    Linear(features=PositiveRandom(num_features=12), causal=True),
]
LOOKING_BACK = [pattern for pattern in PATTERNS if not pattern.looks_ahead]
BIASES = {
    "no bias": None,
    "slopes": SlopeBias(torch.tensor([0.5, 0.1, 0.0])),
    "buckets": BucketBias(torch.linspace(-2, 2, 24).view(3, 8), 16),
}
SHAPES = [(5, 5), (1, 7), (3, 8)]  # queries, keys: a full pass, a decoding step, a stretch of new tokens


def make_call(
    pattern: Pattern, *, queries: int = 5, keys: int = 5, hidden: bool = False, dtype=torch.float32, bias=None
):
    generator = torch.Generator().manual_seed(7)

    def draw(length: int) -> torch.Tensor:
        return torch.randn(2, 3, length, 8, generator=generator, dtype=torch.float32).to(dtype)

    observed = None
    if hidden:
        observed = torch.ones(2, keys, dtype=torch.bool)
        observed[0, :2] = False
        observed[1] = False
    return AttentionCall(draw(queries), draw(keys), draw(keys), pattern=pattern, key_observed=observed, bias=bias)


def has_no_meaning_to(name: str, pattern: Pattern, *, bias=None) -> bool:
    """Linear attention has neither a softmax nor scores for a bias, and its own kernel computes nothing else."""
    if isinstance(pattern, Linear):
        return bias is not None or name not in ("reference", "linear")
    return name == "linear"


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize(("queries", "keys"), SHAPES)
@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", CPU_KERNELS)
def test_kernel_equals_the_reference(name, bias, pattern, queries, keys, hidden):
    call = make_call(pattern, queries=queries, keys=keys, hidden=hidden, bias=BIASES[bias])
    if has_no_meaning_to(name, pattern, bias=BIASES[bias]):
        with pytest.raises(BackendUnavailable, match=r"pattern 'linear'.* use (backend 'auto'|position 'sinusoidal')"):
            attend(call, backend=name)
        return
    expected = ReferenceKernel().run(call)
    torch.testing.assert_close(attend(call, backend=name), expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", SOFTMAX_KERNELS)
def test_gradients_equal_those_of_the_reference(name):
    def gradients(kernel_name: str) -> list[torch.Tensor]:
        call = make_call(Causal(), hidden=True)
        leaves = [tensor.requires_grad_() for tensor in (call.query, call.key, call.value)]
        (KERNELS[kernel_name].run(call) ** 2).sum().backward()
        return [leaf.grad for leaf in leaves]

    for ours, expected in zip(gradients(name), gradients("reference"), strict=True):
        torch.testing.assert_close(ours, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", SOFTMAX_KERNELS)
def test_every_query_sees_every_observed_key_also_where_queries_are_more_than_keys(name):
    call = make_call(Full(), queries=8, keys=3, hidden=True)
    call.key_observed[:] = torch.tensor([True, True, False])
    weights = torch.softmax((call.query @ call.key.transpose(-2, -1) / math.sqrt(8))[..., :2], dim=-1)
    torch.testing.assert_close(KERNELS[name].run(call), weights @ call.value[:, :, :2], atol=1e-6, rtol=0)


def test_worked_example_of_four_tokens():
    tokens = 0.1 * (torch.arange(4)[:, None] * 4 + torch.arange(1, 5)[None, :]).float()
    query, key = tokens, tokens / 2
    scores = query @ key.T
    assert scores[0, 0].item() == pytest.approx(0.15)
    assert scores[0, 1].item() == pytest.approx(0.35)
    call = AttentionCall(query[None, None], key[None, None], (2 * tokens)[None, None], pattern=Full())
    expected = torch.softmax(scores / math.sqrt(4), dim=-1) @ (2 * tokens)
    for name in SOFTMAX_KERNELS:
        torch.testing.assert_close(KERNELS[name].run(call)[0, 0], expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", CPU_KERNELS)
def test_query_that_may_see_nothing_gets_zeros_in_every_precision(name, dtype):
    pattern = Linear() if name == "linear" else Full()
    output = KERNELS[name].run(make_call(pattern, hidden=True, dtype=dtype))
    assert torch.isfinite(output).all()
    assert (output[1] == 0).all()
    assert (output[0] != 0).any()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_large_scores_stay_finite(dtype):
    call = make_call(Causal(), dtype=dtype)
    large = AttentionCall(call.query * 100, call.key * 100, call.value, pattern=Causal())
    for name in SOFTMAX_KERNELS:
        assert torch.isfinite(KERNELS[name].run(large)).all()


@pytest.mark.parametrize(
    ("name", "pattern"),
    [(name, pattern) for name in CPU_KERNELS for pattern in LOOKING_BACK if not has_no_meaning_to(name, pattern)],
    ids=repr,
)
def test_future_keys_never_reach_an_earlier_query(name, pattern):
    call = make_call(pattern)
    changed = AttentionCall(call.query, call.key.clone(), call.value.clone(), pattern=pattern)
    changed.key[:, :, 3:] += 50
    changed.value[:, :, 3:] -= 50
    before, after = KERNELS[name].run(call), KERNELS[name].run(changed)
    assert torch.equal(before[:, :, :3], after[:, :, :3])
    assert not torch.allclose(before[:, :, 3:], after[:, :, 3:])


@pytest.mark.parametrize("pattern", [Causal(), Linear(causal=True)], ids=repr)
def test_weights_sum_to_one_and_reproduce_the_output(pattern):
    call = make_call(pattern)
    weights = attention_weights(call)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3, 5))
    torch.testing.assert_close(weights @ call.value, ReferenceKernel().run(call))


@pytest.mark.parametrize("name", SOFTMAX_KERNELS)
def test_dropout_on_the_weights_keeps_the_expectation(name):
    call = make_call(Full())
    many = [tensor.repeat(4000, 1, 1, 1) for tensor in (call.query, call.key, call.value)]
    dropped = KERNELS[name].run(AttentionCall(*many, pattern=Full(), dropout=0.5)).unflatten(0, (4000, 2))
    torch.testing.assert_close(dropped.mean(dim=0), ReferenceKernel().run(call), atol=0.06, rtol=0)
    assert dropped.std(dim=0).min() > 0.05


def test_auto_on_a_cpu_is_sdpa_and_is_announced_once(caplog):
    choice._announced.clear()
    with caplog.at_level(logging.INFO, logger="longcast.attention"):
        assert choose(make_call(Full())).name == "sdpa"
        choose(make_call(Causal()))
    assert [record.getMessage() for record in caplog.records] == ["attention runs on sdpa (cpu)"]


def test_backend_asked_for_never_falls_back():
    with pytest.raises(BackendUnavailable, match=r"xformers.*cpu.*use backend 'sdpa'"):
        attend(make_call(Full()), backend="xformers")
