"""The state of linear attention: decoding on gives the full pass, at a size that stays."""

import pytest
import torch

from forecast.attention.call import AttentionCall
from forecast.attention.features import Elu
from forecast.attention.kernels.linear import LinearKernel
from forecast.attention.kernels.reference import ReferenceKernel
from forecast.attention.state import LinearState
from tests.forecast.attention.linear_calls import draw, every_causal, every_map, make_call


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
