"""When linear attention runs, and what it refuses: at a call, and when a model is configured."""

import pytest
import torch

from forecast.attention.call import AttentionCall
from forecast.attention.choice import attend, choose
from forecast.attention.features import PositiveRandom
from forecast.attention.kernels.linear import LinearKernel
from forecast.attention.kernels.reference import ReferenceKernel
from forecast.attention.patterns import Linear
from forecast.config import build_config
from forecast.errors import ConfigError
from forecast.model.config import ModelConfig
from tests.forecast.attention.linear_calls import every_pattern, make_call


@every_pattern
def test_auto_takes_the_linear_kernel(pattern):
    call = make_call(pattern, 4)
    assert choose(call).name == "linear"
    assert torch.equal(attend(call), LinearKernel().run(call))


def configured(**sections) -> ModelConfig:
    return build_config(ModelConfig, {"context_length": 16, "horizon": 4, **sections})


LINEAR = {"kind": "linear"}


def test_pattern_is_configured_with_its_features():
    chosen = {"kind": "linear", "features": {"kind": "random", "num_features": 8}}
    assert configured(pattern=chosen).pattern == Linear(features=PositiveRandom(num_features=8))
    with pytest.raises(ConfigError, match="num_features"):
        configured(pattern={"kind": "linear", "features": {"kind": "elu", "num_features": 8}})


@pytest.mark.parametrize("where", ["encoder", "decoder", "direct"])
@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"position": {"kind": "alibi"}}, "position 'alibi' acts .* use position 'sinusoidal', 'learned' or 'none'"),
        ({"position": {"kind": "relative"}}, "position 'relative' acts .* use position 'sinusoidal'"),
        ({"position": {"kind": "rope"}}, "position 'rope' acts .* use position 'sinusoidal'"),
        ({"layer": {"attention_backend": "sdpa"}}, "attention_backend 'sdpa' does not serve both.* 'auto'"),
        ({"layer": {"attention_backend": "linear"}}, "attention_backend 'linear' does not serve both.* 'auto'"),
        ({"layer": {"attention_dropout": 0.1}}, "set attention_dropout to 0, or use backend 'reference'"),
    ],
)
def test_what_linear_attention_cannot_do_is_refused_when_configured(where, sections, message):
    patterns = {
        "encoder": {"pattern": LINEAR},
        "decoder": {"decoder": {"kind": "autoregressive", "pattern": {**LINEAR, "causal": True}}},
        "direct": {"decoder": {"kind": "direct", "pattern": LINEAR}},
    }[where]
    configured(**patterns)
    configured(**sections)
    with pytest.raises(ConfigError, match=message):
        configured(**patterns, **sections)


def test_decoder_that_is_not_causal_is_refused():
    with pytest.raises(ConfigError, match="cannot look ahead and pattern 'linear' does"):
        configured(decoder={"kind": "autoregressive", "pattern": LINEAR})


@pytest.mark.parametrize("kind", ["none", "sinusoidal", "learned"])
def test_positions_that_are_added_to_tokens_are_accepted(kind):
    assert configured(pattern=LINEAR, position={"kind": kind}).position.kind == kind


def test_dropout_is_served_by_the_reference_alone():
    call = make_call(Linear(), 5)
    dropping = AttentionCall(call.query, call.key, call.value, pattern=Linear(), dropout=0.5)
    assert "use backend 'reference'" in LinearKernel().refusal(dropping)
    assert ReferenceKernel().refusal(dropping) is None
    configured(pattern=LINEAR, layer={"attention_dropout": 0.1, "attention_backend": "reference"})
