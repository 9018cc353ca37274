"""Encoder and decoder in half precision: large scores give numbers, and the same ones as in fp32 but for rounding."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from forecast.attention.multihead import MultiHeadAttention
from forecast.model.transformer import ForecastModel
from tests.forecast.model.kinds import HORIZON, make_batch, make_model

LARGE = 1e4
DTYPES = [torch.bfloat16, torch.float16]
KINDS = ["autoregressive", "alibi from a label", "relative", "local", "rope"]


@contextmanager
def largest_scores(model: ForecastModel) -> Iterator[list[float]]:
    """Take down the largest product of a query and a key of each attention, computed beside it in fp32."""
    found: list[float] = []

    def note(attention, given, named, _output) -> None:
        seen = named["seen"] if "seen" in named else given[1]
        queries = attention._split(attention.queries(given[0])).float()
        keys = seen.keys.float()
        found.append((queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5).abs().max().item())

    hooks = [
        module.register_forward_hook(note, with_kwargs=True)
        for module in model.modules()
        if isinstance(module, MultiHeadAttention)
    ]
    yield found
    for hook in hooks:
        hook.remove()


def with_large_scores(kind: str, backend: str) -> ForecastModel:
    model = make_model(kind, layer={"attention_backend": backend, "dropout": 0.0})
    with torch.no_grad():
        for module in model.modules():
            if isinstance(module, MultiHeadAttention):
                module.queries.weight *= 70
                module.keys.weight *= 70
    return model


@pytest.mark.parametrize("backend", ["sdpa", "reference"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_large_scores_give_numbers_in_half_precision(kind: str, dtype: torch.dtype, backend: str) -> None:
    model, batch = with_large_scores(kind, backend).train(), make_batch()
    with largest_scores(model) as scores, torch.autocast("cpu", dtype=dtype):
        loss = model.teacher_forced_loss(batch)
    assert max(scores) > LARGE
    loss.backward()
    assert torch.isfinite(loss)
    assert all(weight.grad is None or torch.isfinite(weight.grad).all() for weight in model.parameters())
    with torch.autocast("cpu", dtype=dtype):
        assert torch.isfinite(model.eval().free_running_loss(batch))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_half_precision_forecasts_as_fp32_does(kind: str, dtype: torch.dtype) -> None:
    model, batch = make_model(kind), make_batch()
    exact = model.forecast(batch.past, batch.past_observed, horizon=HORIZON).mean
    with torch.autocast("cpu", dtype=dtype):
        rounded = model.forecast(batch.past, batch.past_observed, horizon=HORIZON).mean
    swing = batch.past.std().item()
    assert 0 < abs(rounded - exact).max() < 0.1 * swing
