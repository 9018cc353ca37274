"""A lean module computes what the module does, and steps aside where it would not."""

import pytest
import torch
from torch import nn

from forecast.feedforward import Gelu, Relu, SwiGlu
from forecast.model.lean import lean, lean_beside

WIDTH = 8
MODULES = [
    nn.Linear(WIDTH, 5),
    nn.Linear(WIDTH, 5, bias=False),
    nn.LayerNorm(WIDTH),
    nn.LayerNorm(WIDTH, elementwise_affine=False, eps=0.1),
    nn.RMSNorm(WIDTH),
    nn.GELU(approximate="tanh"),
    nn.Identity(),
    nn.Dropout(0.9),
    Gelu().build(WIDTH, dropout=0.9),
    Relu().build(WIDTH, dropout=0.9),
    SwiGlu().build(WIDTH, dropout=0.9),
]


class Doubled(nn.Linear):
    """A linear layer that computes something else."""

    def forward(self, tokens):
        return 2 * super().forward(tokens)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: type(module).__name__)
def test_lean_module_computes_what_the_module_does(module):
    tokens = torch.randn(3, 2, WIDTH)
    module.eval()
    assert torch.equal(lean(module)(tokens), module(tokens))


def unbiased(width, other):
    return nn.Linear(width, other, bias=False)


@pytest.mark.parametrize("kinds", [(nn.Linear, nn.Linear, nn.Linear), (nn.Linear, Doubled), (nn.Linear, unbiased)])
def test_modules_side_by_side_give_what_each_gives(kinds):
    modules, tokens = [kind(WIDTH, 3 + number).eval() for number, kind in enumerate(kinds)], torch.randn(3, 2, WIDTH)
    for found, module in zip(lean_beside(modules)(tokens), modules, strict=True):
        torch.testing.assert_close(found, module(tokens))


def test_a_derived_kind_is_called_as_it_is():
    module = Doubled(WIDTH, 3).eval()
    assert lean(module) is module


def test_a_module_that_is_training_still_drops():
    module = nn.Dropout(0.5).train()
    assert (lean(module)(torch.ones(1000)) == 0).any()


@pytest.mark.parametrize("beside", [False, True])
def test_a_module_that_somebody_listens_to_is_heard(beside):
    module, heard = nn.Linear(WIDTH, 3).eval(), []
    module.register_forward_hook(lambda *given: heard.append(given))
    function = lean_beside([module, module]) if beside else lean(module)
    function(torch.randn(1, WIDTH))
    assert heard
