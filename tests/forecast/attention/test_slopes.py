"""The bias along slopes without a query x key tensor: values and gradients of every form, its error, its memory."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from forecast.attention.biases import BucketBias, SlopeBias
from forecast.attention.call import AttentionCall
from forecast.attention.kernels import sdpa, slopes, two_sided, widened
from forecast.attention.kernels.mirrored import mirrored
from forecast.attention.kernels.reference import ReferenceKernel
from forecast.attention.kernels.two_sided import TwoSided
from forecast.attention.patterns import Causal, Full, Pattern
from forecast.attention.relation import Stand

SLOPES = (0.5, 0.037, 0.0)  # one that is no power of 2, and a flat head
LENGTHS = [1, 2, 3, 17, 129, 300]
EITHER = pytest.mark.parametrize("pattern", [Full(), Causal()], ids=repr)
TRAINED = pytest.mark.parametrize("trained", [False, True], ids=["fixed", "trained"])
HIDDEN = pytest.mark.parametrize("hidden", [False, True], ids=["all observed", "some hidden"])
BEHIND = Stand(first=40.5, step=1.5)
Form = Callable[[AttentionCall], Tensor | None]


@pytest.fixture
def at_every_length(monkeypatch):
    """Let the forms serve lengths at which a written bias is faster."""
    monkeypatch.setattr(widened, "SHORTEST", 1)
    monkeypatch.setattr(two_sided, "SHORTEST", 2)


def make_call(
    pattern: Pattern,
    length: int,
    *,
    queries: int | None = None,
    dtype=torch.float64,
    trained=False,
    hidden=False,
    width=8,
) -> AttentionCall:
    """Draw in fp32 whatever the precision, so that calls differ by rounding alone."""
    generator = torch.Generator().manual_seed(length)
    shapes = [(2, 3, queries or length, width), (2, 3, length, width), (2, 3, length, width)]
    query, key, value = (torch.randn(shape, generator=generator).to(dtype).requires_grad_() for shape in shapes)
    observed = None
    if hidden:
        observed = torch.rand(2, length, generator=generator) > 0.4
        observed[0, : length // 3] = False
        observed[1] = False
    numbers = torch.tensor(SLOPES, dtype=torch.promote_types(dtype, torch.float32), requires_grad=trained)
    return AttentionCall(query, key, value, pattern, key_observed=observed, bias=SlopeBias(numbers))


def in_fp64(call: AttentionCall) -> AttentionCall:
    """Give the same call in fp64, with leaves of its own."""
    bias = call.bias
    assert isinstance(bias, SlopeBias)
    query, key, value, numbers = (
        tensor.detach().double().requires_grad_(tensor.requires_grad)
        for tensor in (call.query, call.key, call.value, bias.slopes)
    )
    return replace(call, query=query, key=key, value=value, bias=SlopeBias(numbers))


def form_of(call: AttentionCall) -> Form:
    return next(form for form in sdpa.FORMS if form(call) is not None)


def run(call: AttentionCall) -> Tensor:
    return sdpa.SdpaKernel().run(call)


def gradients(attend: Callable[[AttentionCall], Tensor | None], call: AttentionCall) -> dict[str, Tensor]:
    """Give the output and the gradients of a sum in which every number has a weight that no precision rounds."""
    output = attend(call)
    assert output is not None
    weight = torch.randn(output.shape, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)
    (output * weight.to(output.dtype)).sum().backward()
    found = {"output": output.detach(), "query": call.query.grad, "key": call.key.grad, "value": call.value.grad}
    if isinstance(call.bias, SlopeBias) and call.bias.slopes.requires_grad:
        found["slopes"] = call.bias.slopes.grad
    return {name: tensor for name, tensor in found.items() if tensor is not None}


def largest(difference: Tensor) -> float:
    return difference.abs().max().item()


def root_mean_square(difference: Tensor) -> float:
    return difference.square().mean().sqrt().item()


def errors(
    attend: Callable[[AttentionCall], Tensor | None],
    call: AttentionCall,
    *,
    measure: Callable[[Tensor], float] = largest,
) -> dict[str, float]:
    """Give how far output and gradients lie from the reference in fp64; those of slopes relative to their size."""
    expected = gradients(ReferenceKernel().run, in_fp64(call))
    found = gradients(attend, call)
    assert found.keys() == expected.keys()
    apart = {name: measure(found[name] - expected[name]) for name in expected}
    if "slopes" in apart:
        apart["slopes"] /= max(expected["slopes"].abs().max().item(), 1.0)
    return apart


def written_in(call: AttentionCall) -> Tensor:
    """Attend under a dense bias in the precision of the call, as one would without these forms."""
    bias = call.written_bias()
    assert bias is not None
    added = bias.to(call.query.dtype).masked_fill(~call.mask(), -torch.inf)
    return functional.scaled_dot_product_attention(call.query, call.key, call.value, attn_mask=added)


@HIDDEN
@TRAINED
@EITHER
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.usefixtures("at_every_length")
def test_output_and_gradients_equal_the_reference_in_fp64(pattern, length, trained, hidden):
    apart = errors(run, make_call(pattern, length, trained=trained, hidden=hidden))
    assert max(apart.values()) < 1e-12


@HIDDEN
@TRAINED
@EITHER
@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.usefixtures("at_every_length")
def test_fp32_lies_within_1e_5_of_fp64_at_short_lengths(pattern, length, trained, hidden):
    apart = errors(run, make_call(pattern, length, dtype=torch.float32, trained=trained, hidden=hidden))
    assert apart.pop("slopes", 0.0) < 1e-4
    assert max(apart.values()) < 1e-5


@TRAINED
@EITHER
def test_fp32_error_does_not_grow_with_the_length(pattern, trained):
    """Width 12 has a scale that is no power of 2, under which columns behind or scaled later would not cancel."""
    call = make_call(pattern, 2049, dtype=torch.float32, trained=trained, width=12)
    apart = errors(run, call)
    columned = slopes.slopes if pattern == Causal() else two_sided.two_sided
    assert form_of(call) is (columned if trained else mirrored)
    assert apart.pop("slopes", 0.0) < 1e-4
    assert max(apart.values()) < (5e-5 if trained else 5e-6)  # how columns cancel depends on the processor


@HIDDEN
@EITHER
@pytest.mark.parametrize("length", [300, 1100])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.usefixtures("at_every_length")
def test_half_precision_errs_no_more_than_a_dense_bias(dtype, length, pattern, hidden):
    call = make_call(pattern, length, dtype=dtype, hidden=hidden)
    if hidden:
        call = replace(call, key_observed=torch.arange(length).remainder(3).ne(1).expand(2, -1))
    ours = errors(run, call, measure=root_mean_square)
    theirs = errors(written_in, make_like(call), measure=root_mean_square)
    assert ours.pop("output") <= theirs.pop("output")
    for name in theirs:
        assert ours[name] <= 1.05 * theirs[name], name  # 1.05: kernels round in another order


def make_like(call: AttentionCall) -> AttentionCall:
    """Give the same call with leaves of its own."""
    query, key, value = (tensor.detach().clone().requires_grad_() for tensor in (call.query, call.key, call.value))
    return replace(call, query=query, key=key, value=value)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@EITHER
def test_trained_slopes_get_their_gradient_in_half_precision(pattern, dtype):
    assert errors(run, make_call(pattern, 1100, dtype=dtype, trained=True))["slopes"] < 0.02


@pytest.mark.parametrize("hidden", [False, True])
def test_two_halves_pass_gradcheck(hidden):
    call = make_call(Full(), 5, width=3, trained=True)
    observed = torch.tensor([[False, True, True, False, True]] * 2) if hidden else None
    assert isinstance(call.bias, SlopeBias)
    given = (call.query, call.key, call.value, call.bias.slopes)
    assert torch.autograd.gradcheck(lambda *leaves: TwoSided.apply(*leaves, observed), given)


@HIDDEN
@TRAINED
@pytest.mark.parametrize("stand", [BEHIND, Stand(first=39.0), Stand(first=41.0, step=0.0)], ids=repr)
@pytest.mark.usefixtures("at_every_length")
def test_queries_behind_all_keys_need_one_number_a_key(stand, trained, hidden):
    call = replace(make_call(Full(), 40, queries=6, trained=trained, hidden=hidden), stand=stand)
    apart = errors(slopes.slopes, call)
    assert max(apart.values()) < 1e-12


@HIDDEN
@TRAINED
@pytest.mark.usefixtures("at_every_length")
def test_queries_among_the_keys_of_another_sequence_are_served_exactly(trained, hidden):
    call = replace(make_call(Full(), 40, queries=6, trained=trained, hidden=hidden), stand=Stand(first=3.5))
    assert slopes.slopes(call) is None
    assert max(errors(run, call).values()) < 1e-12


@HIDDEN
@pytest.mark.usefixtures("at_every_length")
def test_a_cached_step_equals_the_last_row_of_the_full_pass(hidden):
    call = make_call(Causal(), 300, dtype=torch.float32, hidden=hidden)
    step = replace(call, query=call.query[:, :, -1:])
    assert form_of(call) is (slopes.slopes if hidden else mirrored)
    assert form_of(step) is slopes.slopes
    torch.testing.assert_close(run(step), run(call)[:, :, -1:], atol=2e-6, rtol=0)


@TRAINED
@pytest.mark.parametrize("first", [200, 600])
def test_the_future_reaches_no_earlier_query(trained, first):
    call = make_call(Causal(), 700, dtype=torch.float32, trained=trained)
    key, value = call.key.detach().clone(), call.value.detach().clone()
    key[:, :, first:] *= 30
    value[:, :, first:] -= 50
    before, after = run(call), run(replace(call, key=key, value=value))
    assert form_of(call) is (slopes.slopes if trained else mirrored)
    assert torch.equal(before[:, :, :first], after[:, :, :first])
    assert not torch.allclose(before[:, :, first:], after[:, :, first:])


@EITHER
@TRAINED
@pytest.mark.usefixtures("at_every_length")
def test_what_a_hidden_key_holds_changes_nothing(pattern, trained):
    call = make_call(pattern, 90, dtype=torch.float32, trained=trained, hidden=True)
    assert call.key_observed is not None
    shown = call.key_observed[:, None, :, None]
    other = replace(call, key=call.key + torch.where(shown, 0.0, 1e3), value=call.value + torch.where(shown, 0.0, 1e3))
    assert torch.equal(run(call), run(other))


@HIDDEN
@EITHER
@pytest.mark.parametrize("queries", [9, 40])
@pytest.mark.usefixtures("at_every_length")
def test_a_bucket_bias_that_is_not_trained_is_read_through_a_view(pattern, queries, hidden):
    table = torch.linspace(-2, 2, 24, dtype=torch.float64).view(3, 8)
    call = replace(make_call(pattern, 40, queries=queries, hidden=hidden), bias=BucketBias(table, 16))
    assert form_of(call) is mirrored
    torch.testing.assert_close(run(call), ReferenceKernel().run(call), atol=1e-12, rtol=0)


def test_no_tensor_of_query_times_key_is_made():
    length = 2048
    for pattern in (Full(), Causal()):
        for trained in (False, True):
            for hidden in (False, True):
                call = make_call(pattern, length, dtype=torch.float32, trained=trained, hidden=hidden)
                with LargestTensor() as seen:
                    gradients(run, call)
                assert seen.numbers < length * length, (pattern, trained, hidden)


def test_a_dense_bias_would_be_noticed():
    with LargestTensor() as seen:
        sdpa.written(make_call(Full(), 256, dtype=torch.float32))
    assert seen.numbers >= 256 * 256


@EITHER
def test_autocast_rounds_neither_places_nor_bias(pattern):
    call = make_call(pattern, 1500, dtype=torch.float32)
    with torch.no_grad():
        expected = ReferenceKernel().run(in_fp64(call))
        with torch.autocast("cpu", torch.bfloat16), LargestTensor() as seen:
            output = run(call)
    assert output.dtype == torch.bfloat16
    assert seen.numbers < 1500 * 1500
    torch.testing.assert_close(output.double(), expected, atol=0.02, rtol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_places_stay_exact_as_far_as_they_are_served(dtype):
    query = torch.zeros(1, 1, 1, 8, dtype=dtype)
    key = torch.zeros(1, 1, widened.HALF_REACH, 8, dtype=dtype)
    call = AttentionCall(query, key, key, Causal())
    assert widened.fits(call)
    places = torch.arange(float(widened.HALF_REACH))
    numbers = torch.tensor([0.7])
    columns = widened.slope_columns(call, numbers, queries=places[-1:], keys=places)
    products = (columns.query.double() @ columns.key.double().transpose(-2, -1)).flatten() * 8**-0.5
    shared = products - 0.7 * (places.double() - places[-1])  # what a whole row has in common is not seen
    assert torch.isfinite(products).all()
    assert (shared - shared[-1])[-1000:].abs().max() < 0.01
    assert (shared - shared[-1]).abs().max() < 1e-5 * 0.7 * widened.HALF_REACH
    assert shared[-1].abs() < 1
    assert not widened.fits(replace(call, key=torch.zeros(1, 1, widened.HALF_REACH + 1, 8, dtype=dtype)))


class LargestTensor(TorchDispatchMode):
    """Notes how many numbers the largest storage holds that an operator gives; views count what they look at."""

    def __init__(self):
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        """Run the operator."""
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else (result,):
            if isinstance(tensor, Tensor):
                self.numbers = max(self.numbers, tensor.untyped_storage().nbytes() // tensor.element_size())
        return result
