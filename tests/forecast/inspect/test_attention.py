"""Weights recorded beside a pass are those of the definition, and nothing is there when nobody asks."""

import math
from dataclasses import replace

import pytest
import torch

from forecast.attention.kernels.reference import attention_weights
from forecast.attention.multihead import MultiHeadAttention
from forecast.attention.patterns import Causal, Full, Linear, Sparse
from forecast.attention.relation import Stand
from forecast.inspect.attention import entropy, recorded, weights_of
from forecast.model.transformer import ForecastModel
from tests.forecast.attention.test_kernels import BIASES, PATTERNS, SHAPES, make_call
from tests.forecast.model.kinds import KINDS, make_batch, make_model

DEFINED = [
    (pattern, bias) for pattern in PATTERNS for bias in BIASES if bias == "no bias" or not isinstance(pattern, Linear)
]
"""A linear pattern has no scores that a bias could be added to."""


def attentions(model: ForecastModel) -> list[MultiHeadAttention]:
    return [module for module in model.modules() if isinstance(module, MultiHeadAttention)]


@pytest.mark.parametrize("hidden", [False, True])
@pytest.mark.parametrize(("queries", "keys"), [*SHAPES, (8, 3)])
@pytest.mark.parametrize(("pattern", "bias"), DEFINED, ids=repr)
def test_any_rows_are_those_of_the_definition(pattern, bias, queries, keys, hidden) -> None:
    call = make_call(pattern, queries=queries, keys=keys, hidden=hidden, bias=BIASES[bias])
    expected = attention_weights(call)
    for chosen in (range(queries), [queries - 1], [0, queries // 2]):
        rows = torch.tensor(list(chosen))
        torch.testing.assert_close(weights_of(call, rows), expected[:, :, rows], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("bias", ["slopes", "buckets"])
def test_queries_of_another_sequence_stand_where_they_say(bias) -> None:
    call = replace(make_call(Full(), queries=4, keys=9, bias=BIASES[bias]), stand=Stand(9.0, 0.5))
    torch.testing.assert_close(weights_of(call, torch.tensor([3, 1])), attention_weights(call)[:, :, [3, 1]])


def test_half_precision_is_looked_at_in_fp32() -> None:
    call = make_call(Causal(), dtype=torch.float16)
    large = replace(call, query=call.query * 200, key=call.key * 200)
    weights = weights_of(large, torch.arange(5))
    assert weights.dtype == torch.float32
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3, 5))


@pytest.mark.parametrize("kind", KINDS)
def test_recorded_weights_sum_to_one_and_give_what_the_layer_gave(kind) -> None:
    model, batch = make_model(kind), make_batch()
    watched, outputs = attentions(model), []
    for attention in watched:
        attention.output.register_forward_pre_hook(lambda _module, given: outputs.append(given[0]))
    values = values_of(watched)
    with recorded(watched) as found:
        model.teacher_forced_loss(batch)
    assert len(outputs) == len(watched)
    for (weights,), seen, output in zip(found, values, outputs, strict=True):
        sums = weights.sum(dim=-1)
        torch.testing.assert_close(sums, torch.ones_like(sums))
        torch.testing.assert_close((weights @ seen).transpose(1, 2).flatten(2), output, atol=1e-5, rtol=1e-4)


def values_of(watched: list[MultiHeadAttention]) -> list[torch.Tensor]:
    """The values that each attention sees, as they come."""
    values: list[torch.Tensor] = []

    def note(_attention, given, named) -> None:
        values.append((named["seen"] if "seen" in named else given[1]).values)

    for attention in watched:
        attention.register_forward_pre_hook(note, with_kwargs=True)
    return values


def test_weights_are_detached_whatever_the_pass_is_for() -> None:
    model, batch = make_model("relative"), make_batch()
    with recorded(attentions(model)) as found:
        model.train().teacher_forced_loss(batch).backward()
    assert not any(weights.requires_grad for passes in found for weights in passes)


def test_chosen_queries_alone_are_recorded() -> None:
    model, batch = make_model("sparse"), make_batch()
    watched = [layer.attention for layer in model.encoder.layers]
    with recorded(watched) as everything:
        model.teacher_forced_loss(batch)
    with recorded(watched[1:], queries=torch.tensor([5, 2])) as some:
        model.teacher_forced_loss(batch)
    assert len(some) == 1
    torch.testing.assert_close(some[0][0], everything[1][0][:, :, [5, 2]])


def test_outside_the_block_nothing_is_left_and_nothing_is_computed(monkeypatch) -> None:
    model, batch = make_model("autoregressive"), make_batch()
    with pytest.raises(RuntimeError, match="stopped"), recorded(attentions(model)) as found:
        raise RuntimeError("stopped")
    monkeypatch.setattr("forecast.inspect.attention.weights_of", None)
    model.teacher_forced_loss(batch)
    assert found == [[] for _ in attentions(model)]
    assert not any(attention._forward_hooks for attention in attentions(model))


def test_a_pass_is_the_same_to_the_bit_while_it_is_recorded() -> None:
    model, batch = make_model("autoregressive from a label"), make_batch()
    plain = model.teacher_forced_loss(batch)
    with recorded(attentions(model)):
        assert torch.equal(model.teacher_forced_loss(batch), plain)


def test_entropy_is_the_logarithm_of_how_many_keys_are_looked_at_alike() -> None:
    weights = torch.tensor([[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.25] * 4, [0.0] * 4])
    expected = torch.tensor([0.0, math.log(2), math.log(4), 0.0])
    torch.testing.assert_close(entropy(weights), expected)


def test_rows_take_the_memory_of_rows_and_not_of_all_pairs() -> None:
    call = make_call(Sparse(left=3, right=3, random_reach=512), queries=3000, keys=3000)
    seen = []

    class Watched(type(call.pattern)):
        def may_look(self, query, key, *, num_keys):
            seen.append(torch.broadcast_shapes(query.shape, key.shape))
            return super().may_look(query, key, num_keys=num_keys)

    weights = weights_of(replace(call, pattern=Watched(left=3, right=3)), torch.tensor([0, 1500, 2999]))
    assert weights.shape == (2, 3, 3, 3000)
    assert seen == [(3, 3000)]
