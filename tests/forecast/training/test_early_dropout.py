"""Dropout ends at the step asked for."""

import pytest
from torch import nn

from forecast.attention.multihead import MultiHeadAttention
from tests.forecast.training.tiny_run import run, tiny


def dropout_rates(network: nn.Module) -> set[float]:
    layers = [module.p for module in network.modules() if isinstance(module, nn.Dropout)]
    return {*layers, *(module.dropout for module in network.modules() if isinstance(module, MultiHeadAttention))}


@pytest.mark.parametrize(("share", "dropping"), [(1.0, [1, 1, 1, 1]), (0.5, [1, 1, 0, 0]), (0.0, [0, 0, 0, 0])])
def test_dropout_lasts_for_its_share_of_the_steps(tmp_path, share, dropping):
    model, seen = tiny(dropout=0.2, layer={"d_model": 8, "num_heads": 2, "dropout": 0.2, "attention_dropout": 0.2}), []
    run(
        model,
        tmp_path,
        max_epochs=4,
        patience=4,
        dropout_share=share,
        on_epoch=lambda epoch, metrics: seen.append(dropout_rates(model)),
    )
    assert seen == [{0.2} if drops else {0.0} for drops in dropping]
