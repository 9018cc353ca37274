"""Modules without what stands around their arithmetic: where one token is decoded at a time, that costs more than it.

A module called looks its parts up, counts hooks and asks whether it is training, dozens of times a token, and pushes
out of the processor's caches what the arithmetic needs: a step of one series takes half the time without.
"""

from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional

Function = Callable[[Tensor], Tensor]


def lean(module: nn.Module) -> Function:
    """Give a function that computes what the module does as it is now, its weights looked up once.

    Modules that are not known here, that are training or that somebody listens to are given as they are.
    """
    make = MAKERS.get(type(module))
    return module if make is None or _is_watched(module) else make(module)


def lean_beside(modules: Sequence[nn.Module]) -> Callable[[Tensor], Sequence[Tensor]]:
    """Give a function that runs all modules on the same tokens; linear ones in one product."""
    plain = [module for module in modules if type(module) is nn.Linear and module.bias is not None]
    plain = [module for module in plain if not _is_watched(module)]
    if len(plain) < len(modules):
        functions = [lean(module) for module in modules]
        return lambda tokens: [function(tokens) for function in functions]
    weight = torch.cat([module.weight for module in plain])
    bias = torch.cat([module.bias for module in plain])
    widths = [module.out_features for module in plain]
    return lambda tokens: functional.linear(tokens, weight, bias).split(widths, dim=-1)


def _is_watched(module: nn.Module) -> bool:
    return module.training or bool(module._forward_hooks or module._forward_pre_hooks)


def _linear(module: nn.Linear) -> Function:
    weight, bias = module.weight, module.bias
    return lambda tokens: functional.linear(tokens, weight, bias)


def _layer_norm(module: nn.LayerNorm) -> Function:
    shape, weight, bias, eps = module.normalized_shape, module.weight, module.bias, module.eps
    return lambda tokens: torch.layer_norm(tokens, shape, weight, bias, eps)


def _sequential(module: nn.Sequential) -> Function:
    functions = [function for part in module if (function := lean(part)) is not unchanged]

    def run(tokens: Tensor) -> Tensor:
        for function in functions:
            tokens = function(tokens)
        return tokens

    return run


def unchanged(tokens: Tensor) -> Tensor:
    """Give the tokens: what dropout does outside training."""
    return tokens


MAKERS: dict[type[nn.Module], Callable[..., Function]] = {
    nn.Linear: _linear,
    nn.LayerNorm: _layer_norm,
    nn.Sequential: _sequential,
    nn.GELU: lambda module: partial(functional.gelu, approximate=module.approximate),
    nn.ReLU: lambda module: torch.relu,
    nn.Dropout: lambda module: unchanged,
    nn.Identity: lambda module: unchanged,
}
"""How each kind of module is made lean, by its exact type: a kind derived from one of them may compute otherwise."""
