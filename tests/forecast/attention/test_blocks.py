"""Blocks compute the one written definition: values, gradients, every length, and without a query x key tensor."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from forecast.attention.biases import BucketBias, SlopeBias
from forecast.attention.call import AttentionCall
from forecast.attention.kernels import blocks as blocks_module
from forecast.attention.kernels.blocks import blocks, in_blocks
from forecast.attention.kernels.reference import ReferenceKernel
from forecast.attention.kernels.sdpa import SdpaKernel
from forecast.attention.patterns import Causal, Local, Pattern, Sparse
from forecast.attention.relation import Stand

HEADS = 3
EXAMPLES = settings(max_examples=60, deadline=None)
LENGTHS = st.one_of(st.integers(1, 300), st.sampled_from([1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257]))
BIASES = st.sampled_from(["none", "slopes", "buckets"])

LOCALS = st.builds(Local, left=st.integers(0, 150), right=st.integers(0, 150))
SPARSES = st.builds(
    Sparse,
    left=st.integers(0, 70),
    right=st.integers(0, 70),
    num_global=st.integers(0, 20),
    num_random_blocks=st.integers(0, 3),
    block_length=st.sampled_from([1, 2, 5, 7, 16, 37, 64, 131]),
    random_reach=st.sampled_from([1, 50, 300, 8192]),
    season=st.one_of(st.none(), st.integers(1, 100)),
    num_seasons=st.integers(1, 4),
    seed=st.integers(0, 5),
    causal=st.booleans(),
)
PATTERNS = st.one_of(LOCALS, SPARSES)
SOME = [
    Local(left=20, right=9),
    Local(left=30, right=0),
    Sparse(left=9, right=5, num_global=5, block_length=16, random_reach=200, season=24),
    Sparse(left=9, num_global=5, block_length=16, random_reach=200, season=24, causal=True),
    Sparse(left=9, right=5, num_global=0, num_random_blocks=0, season=24),
]
LOOKING_BACK = [pattern for pattern in SOME if not pattern.looks_ahead]


def make_bias(kind: str):
    if kind == "slopes":
        return SlopeBias(torch.tensor([0.5, 0.1, 0.0]).requires_grad_())
    return BucketBias(torch.linspace(-2, 2, 24).view(HEADS, 8).requires_grad_(), 16) if kind == "buckets" else None


def make_call(
    pattern: Pattern, length: int, *, queries: int | None = None, batch: int = 2, hidden: bool = False, bias="none"
):
    generator = torch.Generator().manual_seed(length)

    def draw(count: int, width: int) -> torch.Tensor:  # laid out as heads come from a projection
        return torch.randn(batch, count, HEADS, width, generator=generator).transpose(1, 2).requires_grad_()

    observed = None
    if hidden:
        observed = torch.rand(batch, length, generator=generator) > 0.5
        observed[-1] = False
    tensors = draw(queries or length, 8), draw(length, 8), draw(length, 8)
    return AttentionCall(*tensors, pattern=pattern, key_observed=observed, bias=make_bias(bias))


def leaves(call: AttentionCall) -> list[torch.Tensor]:
    trained = {SlopeBias: "slopes", BucketBias: "table"}
    biases = [] if call.bias is None else [getattr(call.bias, trained[type(call.bias)])]
    return [call.query, call.key, call.value, *biases]


def outcome(compute, call: AttentionCall) -> list[torch.Tensor]:
    """Give the output and the gradients of a loss that weighs every number of it differently."""
    output = compute(call)
    weights = torch.linspace(-1, 1, output.numel()).view(output.shape)
    return [output, *torch.autograd.grad((output * weights).sum(), leaves(call), materialize_grads=True)]


def assert_is_the_definition(compute, call: AttentionCall) -> None:
    expected = outcome(ReferenceKernel().run, call)
    for ours, theirs in zip(outcome(compute, call), expected, strict=True):
        # Gradients of a bias are sums over all pairs: what is exact there is relative to their size.
        torch.testing.assert_close(ours, theirs, atol=1e-5 * max(1.0, float(theirs.detach().abs().max())), rtol=0)


def forced(call: AttentionCall) -> torch.Tensor:
    return in_blocks(call, call.pattern)


@EXAMPLES
@given(pattern=PATTERNS, length=LENGTHS, hidden=st.booleans(), bias=BIASES, batch=st.integers(1, 3))
def test_blocks_equal_the_definition_in_values_and_gradients(pattern, length, hidden, bias, batch):
    assert_is_the_definition(forced, make_call(pattern, length, batch=batch, hidden=hidden, bias=bias))


@EXAMPLES
@given(pattern=PATTERNS, length=LENGTHS, share=st.floats(0, 1), hidden=st.booleans(), bias=BIASES)
def test_newest_queries_alone_equal_the_definition(pattern, length, share, hidden, bias):
    queries = max(1, pattern.num_apart(length), round(share * length))
    assert_is_the_definition(forced, make_call(pattern, length, queries=queries, hidden=hidden, bias=bias))


@EXAMPLES
@given(pattern=PATTERNS, length=LENGTHS, share=st.floats(0, 1), hidden=st.booleans(), bias=BIASES)
def test_the_kernel_equals_the_definition_whatever_form_it_takes(pattern, length, share, hidden, bias):
    queries = max(1, round(share * length))
    call = make_call(pattern, length, queries=queries, hidden=hidden, bias=bias)
    assert_is_the_definition(SdpaKernel().run, call)


@pytest.mark.parametrize("pattern", SOME, ids=repr)
@pytest.mark.parametrize("bias", ["none", "slopes"])
def test_slabs_change_nothing(pattern, bias, monkeypatch):
    monkeypatch.setattr(blocks_module, "COPIED_MB", 0.1)  # a few blocks at once
    call = make_call(pattern, 300, hidden=True, bias=bias)
    with torch.no_grad():
        torch.testing.assert_close(forced(call), ReferenceKernel().run(call), atol=1e-5, rtol=0)


@pytest.mark.parametrize("pattern", SOME, ids=repr)
@pytest.mark.parametrize("bias", ["none", "slopes", "buckets"])
@pytest.mark.parametrize("hidden", [False, True])
def test_bf16_lies_as_near_the_exact_result_as_bf16_can(pattern, bias, hidden):
    call = make_call(pattern, 200, hidden=hidden, bias=bias)
    half = replace(call, **{name: getattr(call, name).bfloat16() for name in ("query", "key", "value")})
    exact = replace(half, **{name: getattr(half, name).double() for name in ("query", "key", "value")})
    with torch.no_grad():
        expected, ours = ReferenceKernel().run(exact), forced(half).double()
        # 8 bits of a weight, and as many of a score and of its bias: a weight is off by as much as they are.
        rounding = 2**-8 * (2 + (exact.query @ exact.key.mT).abs().max() / 8**0.5)
        assert (ours - expected).abs().max() <= rounding * exact.value.abs().max()
        assert (ours - expected).abs().mean() <= 2**-8


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize("pattern", LOOKING_BACK, ids=repr)
def test_future_keys_never_reach_an_earlier_query(pattern, hidden):
    call = make_call(pattern, 300, hidden=hidden)
    changed = replace(call, key=call.key.detach().clone(), value=call.value.detach().clone())
    changed.key[:, :, 150:] += 50
    changed.value[:, :, 150:] -= 50
    before, after = forced(call), forced(changed)
    assert torch.equal(before[:, :, :150], after[:, :, :150])
    assert not torch.allclose(before[:, :, 150:], after[:, :, 150:])


@pytest.mark.parametrize("pattern", SOME, ids=repr)
def test_query_that_may_see_nothing_gets_zeros_and_no_gradient(pattern):
    call = make_call(pattern, 200, hidden=True)
    call.key_observed[0, 60:140] = False
    output, *gradients = outcome(forced, call)
    assert all(torch.isfinite(tensor).all() for tensor in (output, *gradients))
    assert (output[1] == 0).all()
    blind = ~call.mask().any(dim=-1)[0, 0]
    assert (output[0, :, blind] == 0).all()
    assert (gradients[0][0, :, blind] == 0).all()
    assert (output[0] != 0).any()


@pytest.mark.parametrize("pattern", LOOKING_BACK, ids=repr)
@pytest.mark.parametrize("steps", [1, 3])
def test_decoding_steps_give_the_last_rows_of_the_full_pass(pattern, steps):
    call = make_call(pattern, 2_000, bias="slopes")
    step = replace(call, query=call.query[:, :, -steps:])
    with torch.no_grad():
        torch.testing.assert_close(SdpaKernel().run(step), SdpaKernel().run(call)[:, :, -steps:], atol=1e-5, rtol=0)


@pytest.mark.parametrize("pattern", SOME, ids=repr)
def test_what_a_forecast_laid_out_can_be_trained_with(pattern):
    call = make_call(pattern, 211)
    with torch.inference_mode():
        forced(replace(call, query=call.query[:, :1], key=call.key[:, :1], value=call.value[:, :1]))
    assert_is_the_definition(forced, call)


def test_value_width_of_its_own_and_dropout_are_served():
    call = make_call(SOME[2], 300)
    wide = replace(call, value=torch.cat([call.value, -call.value], dim=3))
    torch.testing.assert_close(forced(wide), ReferenceKernel().run(wide), atol=1e-5, rtol=0)
    many = replace(call, **{name: getattr(call, name)[:1].repeat(300, 1, 1, 1) for name in ("query", "key", "value")})
    with torch.no_grad():
        dropped = forced(replace(many, dropout=0.2))
        assert dropped.std(dim=0).mean() > 0.05
        torch.testing.assert_close(dropped.mean(dim=0), forced(call)[0], atol=0.3, rtol=0)


class Largest(TorchDispatchMode):
    """Remembers how many numbers the largest tensor held that was made."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        stored = [
            t.untyped_storage().nbytes() // t.itemsize for t in tree_flatten(made)[0] if isinstance(t, torch.Tensor)
        ]
        self.numbers = max([self.numbers, *stored])
        return made


@pytest.mark.parametrize("bias", ["none", "slopes", "buckets"])
@pytest.mark.parametrize("pattern", [Local(left=16, right=16), Sparse(left=16, right=16, block_length=32)], ids=repr)
def test_no_tensor_grows_with_query_times_key(pattern, bias):
    def largest(length: int) -> int:
        with Largest() as watch:
            outcome(SdpaKernel().run, make_call(pattern, length, batch=1, bias=bias, hidden=True))
        return watch.numbers

    assert largest(4_096) <= 2.2 * largest(2_048)


def test_blocks_serve_where_they_pay_and_nothing_else():
    assert blocks(make_call(Local(left=16, right=16), 1_024)) is not None
    assert blocks(make_call(Local(left=16, right=0), 5_000, queries=1)) is not None
    assert blocks(make_call(Local(left=400, right=400), 1_024)) is None
    assert blocks(make_call(Sparse(), 300)) is None
    assert blocks(make_call(Sparse(causal=True), 2_048, queries=1)) is None
    assert blocks(make_call(Causal(), 1_024)) is None
    elsewhere = replace(make_call(Local(left=16, right=16), 1_024, bias="slopes"), stand=Stand(step=2.0))
    assert blocks(elsewhere) is None
