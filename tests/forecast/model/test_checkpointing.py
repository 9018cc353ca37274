"""Checkpointing changes what training holds, and nothing else: gradients are the same to the bit."""

from collections import Counter
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import CheckpointPolicy

from forecast.attention.choice import Backend
from forecast.batch import Batch
from forecast.config import build_config
from forecast.errors import ConfigError
from forecast.model.checkpointing import ATTENTION, _policy, recomputed
from forecast.model.layers import LayerConfig
from forecast.model.transformer import ForecastModel, ModelConfig
from tests.forecast.model.kinds import CONTEXT, DECODER, HORIZON, KINDS, make_batch, make_model
from tests.forecast.model.told import told_batch, told_model

MODES = ("selective", "full")
FLASH = "aten::_scaled_dot_product_flash_attention_for_cpu"


def with_mode(model: ForecastModel, mode: str) -> ForecastModel:
    """Turn every layer of a finished model to another mode."""
    for module in model.modules():
        if hasattr(module, "checkpointing"):
            module.checkpointing = mode
    return model


def gradients(model: ForecastModel, batch: Batch) -> dict[str, Tensor | None]:
    torch.manual_seed(8)  # what dropout draws
    model.train().zero_grad(set_to_none=True)
    model.teacher_forced_loss(batch).backward()
    return {name: weight.grad for name, weight in model.named_parameters()}


def assert_same_gradients(model: ForecastModel, batch: Batch) -> None:
    expected = gradients(with_mode(model, "none"), batch)
    assert any(grad is not None and (grad != 0).any() for grad in expected.values())
    for mode in MODES:
        found = gradients(with_mode(model, mode), batch)
        different = [name for name, grad in found.items() if not same(grad, expected[name])]
        assert different == [], mode


def same(one: Tensor | None, other: Tensor | None) -> bool:
    return one is other is None or torch.equal(one, other)


class Operators(TorchDispatchMode):
    """Counts the operators that run while it is on."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.runs[func.name().partition(".")[0]] += 1
        return func(*args, **(kwargs or {}))


def bytes_held_for_the_backward_pass(model: ForecastModel, batch: Batch) -> int:
    """What a forward pass allocates and does not free while its loss is there."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        loss = model.train().teacher_forced_loss(batch)
    assert loss.requires_grad
    return sum(event.self_cpu_memory_usage for event in profiler.key_averages())


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_the_same_to_the_bit(kind: str) -> None:
    assert_same_gradients(make_model(kind, layer={"d_model": 16, "num_heads": 2, "dropout": 0.0}), make_batch())


@pytest.mark.parametrize("attention_dropout", [0.0, 0.3])
@pytest.mark.parametrize("backend", ["sdpa", "reference"])
def test_dropout_is_drawn_again_as_it_was(attention_dropout: float, backend: Backend) -> None:
    layer = {"dropout": 0.4, "attention_dropout": attention_dropout, "attention_backend": backend}
    assert_same_gradients(make_model("autoregressive", layer=layer, num_encoder_layers=3), make_batch())


def test_covariates_do_not_change_that() -> None:
    assert_same_gradients(told_model("autoregressive from a label"), told_batch())


def test_mixed_channels_do_not_change_that() -> None:
    torch.manual_seed(2)
    plain = {"context_length": CONTEXT, "horizon": HORIZON, "patch_length": 4, "decoder": DECODER}
    layer = {"d_model": 16, "num_heads": 2, "dropout": 0.2}
    config = build_config(ModelConfig, {**plain, "layer": layer, "channels": "mixed"})
    assert_same_gradients(ForecastModel(config, channels=("load", "wind")), make_batch(4))


@pytest.mark.parametrize("mode", MODES)
def test_a_model_is_configured_with_it(mode: str) -> None:
    plain = make_model("local", layer={"dropout": 0.1})
    model = make_model("local", layer={"dropout": 0.1, "checkpointing": mode})
    assert model.config.layer.checkpointing == mode
    expected, found = gradients(plain, make_batch()), gradients(model, make_batch())
    assert all(same(grad, expected[name]) for name, grad in found.items())
    assert list(model.state_dict()) == list(plain.state_dict())


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"checkpointing: Input should be 'none', 'selective' or 'full'"):
        build_config(LayerConfig, {"checkpointing": "some"})


def test_attention_runs_once_in_the_selective_mode_and_twice_in_the_full_one() -> None:
    runs = {}
    for mode in ("none", *MODES):
        model = make_model("direct", num_encoder_layers=2, layer={"checkpointing": mode})
        with Operators() as operators:
            gradients(model, make_batch())
        runs[mode] = operators.runs
    assert runs["none"][FLASH] == runs["selective"][FLASH] == 4  # two of the encoder, two of the decoder
    assert runs["full"][FLASH] == 8
    assert runs["full"]["aten::addmm"] == runs["selective"]["aten::addmm"] > runs["none"]["aten::addmm"]


@pytest.mark.parametrize("name", ["_scaled_dot_product_flash_attention", "_flash_attention_forward"])
def test_attention_that_drops_in_its_kernel_is_computed_again(name: str) -> None:
    """As CUDA does: what is kept draws nothing the second time, and all dropout behind it would draw otherwise."""
    operator = getattr(torch.ops.aten, name).default
    arguments = [argument.name for argument in operator._schema.arguments if not argument.kwarg_only]
    for share, policy in ((0.0, CheckpointPolicy.MUST_SAVE), (0.1, CheckpointPolicy.PREFER_RECOMPUTE)):
        given = [share if argument == "dropout_p" else None for argument in arguments]
        assert _policy(None, operator, *given) == policy


def test_less_is_held() -> None:
    held = {}
    for mode in ("none", *MODES):
        model = make_model("direct", num_encoder_layers=4, layer={"d_model": 32, "checkpointing": mode})
        held[mode] = bytes_held_for_the_backward_pass(model, make_batch(64))
    assert held["full"] < held["selective"] < 0.4 * held["none"]


def test_nothing_is_computed_again_where_there_are_no_gradients() -> None:
    calls = []

    def layer(tokens: Tensor) -> Tensor:
        calls.append(torch.is_grad_enabled())
        return tokens * 2

    with torch.no_grad():
        assert torch.equal(recomputed(layer, torch.ones(1, 2, 3), checkpointing="full"), torch.full((1, 2, 3), 2.0))
    assert calls == [False]


@pytest.mark.parametrize("mode", MODES)
def test_forecasts_are_the_same(mode: str) -> None:
    batch = make_batch()
    means = [
        with_mode(make_model("alibi from a label"), name)
        .forecast(batch.past, batch.past_observed, horizon=HORIZON)
        .mean.tobytes()
        for name in ("none", mode)
    ]
    assert means[0] == means[1]


def test_every_operator_of_torch_in_the_list_is_one() -> None:
    names = {name.removeprefix("aten::") for name in ATTENTION if name.startswith("aten::")}
    assert [name for name in names if not hasattr(torch.ops.aten, name)] == []
