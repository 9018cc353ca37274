"""The contract of a feed-forward layer, over the whole union, and the formula of each."""

from typing import get_args

import pytest
import torch
from torch.nn import functional

from forecast.feedforward import FeedForward, Gelu, Relu, SwiGlu

LAYERS = [layer() for layer in get_args(get_args(FeedForward)[0])]
D_MODEL = 12

every_layer = pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.kind)


def num_weights(module: torch.nn.Module) -> int:
    return sum(weight.numel() for weight in module.parameters() if weight.ndim > 1)


@every_layer
def test_tokens_keep_their_shape(layer):
    built = layer.build(D_MODEL, dropout=0.0)
    for shape in ((D_MODEL,), (3, D_MODEL), (2, 3, D_MODEL)):
        assert built(torch.randn(shape)).shape == shape


@every_layer
def test_each_token_is_transformed_on_its_own(layer):
    built, tokens = layer.build(D_MODEL, dropout=0.0), torch.randn(2, 5, D_MODEL)
    changed = tokens.clone()
    changed[:, 3] += 1.0
    before, after = built(tokens), built(changed)
    differs = (before - after).abs().amax(dim=(0, 2)) > 1e-6
    assert differs.tolist() == [False, False, False, True, False]


@every_layer
def test_every_weight_learns(layer):
    built = layer.build(D_MODEL, dropout=0.0)
    built(torch.randn(64, D_MODEL)).square().sum().backward()
    for weight in built.parameters():
        assert weight.grad.isfinite().all()
        assert weight.grad.any()


@every_layer
def test_dropout_works_in_training_only(layer):
    built, tokens = layer.build(D_MODEL, dropout=0.5), torch.randn(4, D_MODEL)
    assert not torch.equal(built(tokens), built(tokens))
    built.eval()
    assert torch.equal(built(tokens), built(tokens))


@every_layer
@pytest.mark.parametrize("expansion", [2, 4])
def test_layers_of_one_expansion_weigh_the_same(layer, expansion):
    built = type(layer)(expansion=expansion).build(D_MODEL, dropout=0.0)
    assert num_weights(built) == pytest.approx(2 * expansion * D_MODEL**2, rel=0.02)


@pytest.mark.parametrize(("layer", "activation"), [(Gelu(), functional.gelu), (Relu(), functional.relu)])
def test_perceptron_is_linear_activation_linear(layer, activation):
    built, tokens = layer.build(D_MODEL, dropout=0.0), torch.randn(3, D_MODEL)
    hidden, output = built[0], built[-1]
    assert hidden.weight.shape == (4 * D_MODEL, D_MODEL)
    expected = activation(tokens @ hidden.weight.T + hidden.bias) @ output.weight.T + output.bias
    torch.testing.assert_close(built(tokens), expected)


def test_swiglu_gates_its_hidden_layer():
    built, tokens = SwiGlu().build(D_MODEL, dropout=0.0), torch.randn(3, D_MODEL)
    gate_weight, hidden_weight = built.gate_and_hidden.weight.chunk(2)
    gate_bias, hidden_bias = built.gate_and_hidden.bias.chunk(2)
    gate = tokens @ gate_weight.T + gate_bias
    hidden = gate * gate.sigmoid() * (tokens @ hidden_weight.T + hidden_bias)
    torch.testing.assert_close(built(tokens), hidden @ built.output.weight.T + built.output.bias)
