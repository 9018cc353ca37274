"""Attention and layers equal those of torch.nn, weight for weight."""

import math

import pytest
import torch
from torch import Tensor, nn

from forecast.attention.choice import KERNELS
from forecast.attention.multihead import MultiHeadAttention
from forecast.attention.patterns import Causal, Full, Pattern
from forecast.feedforward import Gelu, Relu
from forecast.model.layers import DecoderLayer, DecoderStack, EncoderLayer, LayerConfig
from forecast.model.stepwise import Stepwise

D_MODEL, HEADS, BATCH, QUERIES, KEYS = 16, 4, 3, 7, 5
NORM_POSITIONS = {"pre": True, "post": False}  # ours: torch's norm_first
ACTIVATIONS = {"gelu": Gelu(), "relu": Relu()}

ELSEWHERE = ("xformers", "flex", "linear")  # one needs a GPU, one a compiler, one has no softmax as torch's has
every_backend = pytest.mark.parametrize("backend", [name for name in KERNELS if name not in ELSEWHERE])
every_activation = pytest.mark.parametrize("activation", ACTIVATIONS)
every_norm_position = pytest.mark.parametrize("norm_position", NORM_POSITIONS)


# ---- Taking over the weights of torch's modules


def random_weights(module: nn.Module) -> None:
    """Draw biases and norms too, which start as 0 and 1 and would hide a swap."""
    for weight in module.parameters():
        nn.init.normal_(weight, std=0.3)


def copy(ours: nn.Module, theirs: nn.Module) -> None:
    """Take over the weights of one linear layer or norm."""
    ours.load_state_dict(theirs.state_dict())


def copy_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention) -> None:
    weights, biases = theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)
    for projection, weight, bias in zip((ours.queries, ours.keys, ours.values), weights, biases, strict=True):
        projection.load_state_dict({"weight": weight, "bias": bias})
    copy(ours.output, theirs.out_proj)


def copy_feed_forward(ours: nn.Module, theirs: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer) -> None:
    copy(ours[0], theirs.linear1)
    copy(ours[-1], theirs.linear2)


def copy_encoder_layer(ours: EncoderLayer, theirs: nn.TransformerEncoderLayer) -> None:
    copy_attention(ours.attention, theirs.self_attn)
    copy_feed_forward(ours.feed_forward, theirs)
    copy(ours.around_attention.norm, theirs.norm1)
    copy(ours.around_feed_forward.norm, theirs.norm2)


def copy_decoder_layer(ours: DecoderLayer, theirs: nn.TransformerDecoderLayer) -> None:
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    copy_feed_forward(ours.feed_forward, theirs)
    copy(ours.around_self_attention.norm, theirs.norm1)
    copy(ours.around_cross_attention.norm, theirs.norm2)
    copy(ours.around_feed_forward.norm, theirs.norm3)


def attention_pair(pattern: Pattern, backend: str) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    theirs = nn.MultiheadAttention(D_MODEL, HEADS, batch_first=True)
    random_weights(theirs)
    ours = MultiHeadAttention(D_MODEL, num_heads=HEADS, pattern=pattern, backend=backend)
    copy_attention(ours, theirs)
    return ours, theirs


def layer_config(norm_position: str, activation: str, backend: str) -> LayerConfig:
    return LayerConfig(
        d_model=D_MODEL,
        num_heads=HEADS,
        feed_forward=ACTIVATIONS[activation],
        norm_position=norm_position,
        dropout=0.0,
        attention_backend=backend,
    )


def torch_layer(kind: type[nn.Module], norm_position: str, activation: str) -> nn.Module:
    layer = kind(
        D_MODEL,
        HEADS,
        dim_feedforward=4 * D_MODEL,
        dropout=0.0,
        activation=activation,
        batch_first=True,
        norm_first=NORM_POSITIONS[norm_position],
    )
    random_weights(layer)
    return layer


def tokens(length: int) -> Tensor:
    return torch.randn(BATCH, length, D_MODEL)


def last_ones_hidden(length: int) -> Tensor:
    """Another number of hidden tokens a row, none in the first; True is an observed token."""
    return torch.arange(length) < length - torch.arange(BATCH)[:, None]


def future_hidden(length: int) -> Tensor:
    """The causal mask as torch wants it: True hides."""
    return torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)


def assert_same(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-6)


# ---- Multi-head attention


@every_backend
def test_self_attention_equals_torch(backend):
    ours, theirs = attention_pair(Full(), backend)
    given = tokens(KEYS)
    assert_same(ours(given, ours.project(given)), theirs(given, given, given)[0])


@every_backend
def test_cross_attention_equals_torch(backend):
    ours, theirs = attention_pair(Full(), backend)
    asking, looked_at = tokens(QUERIES), tokens(KEYS)
    assert_same(ours(asking, ours.project(looked_at)), theirs(asking, looked_at, looked_at)[0])


@every_backend
def test_causal_attention_equals_torch(backend):
    ours, theirs = attention_pair(Causal(), backend)
    given = tokens(KEYS)
    assert_same(ours(given, ours.project(given)), theirs(given, given, given, attn_mask=future_hidden(KEYS))[0])


@every_backend
@pytest.mark.parametrize("pattern", [Full(), Causal()], ids=lambda pattern: pattern.kind)
def test_attention_with_hidden_keys_equals_torch(backend, pattern):
    ours, theirs = attention_pair(pattern, backend)
    given, observed = tokens(KEYS), last_ones_hidden(KEYS)
    mask = None if pattern == Full() else future_hidden(KEYS)
    expected, _ = theirs(given, given, given, key_padding_mask=~observed, attn_mask=mask)
    assert_same(ours(given, ours.project(given), key_observed=observed), expected)


@every_backend
def test_gradients_of_all_weights_equal_those_of_torch(backend):
    ours, theirs = attention_pair(Causal(), backend)
    given = tokens(KEYS)
    ours(given, ours.project(given)).square().sum().backward()
    theirs(given, given, given, attn_mask=future_hidden(KEYS))[0].square().sum().backward()
    in_projection = torch.cat([part.weight.grad for part in (ours.queries, ours.keys, ours.values)])
    torch.testing.assert_close(in_projection, theirs.in_proj_weight.grad, atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(ours.output.weight.grad, theirs.out_proj.weight.grad, atol=1e-4, rtol=1e-5)


def scores(attention: MultiHeadAttention, given: Tensor) -> Tensor:
    queries = attention.queries(given).unflatten(-1, (HEADS, -1)).transpose(1, 2)
    return queries @ attention.project(given).keys.transpose(-2, -1)


def test_scores_are_symmetric_only_when_queries_and_keys_share_their_weights():
    attention = MultiHeadAttention(D_MODEL, num_heads=HEADS, pattern=Full(), backend="reference")
    given = tokens(KEYS)
    apart = scores(attention, given)
    assert (apart - apart.transpose(-2, -1)).abs().max() > 0.1
    copy(attention.keys, attention.queries)
    tied = scores(attention, given)
    torch.testing.assert_close(tied, tied.transpose(-2, -1))


def test_each_projection_is_xavier_uniform_on_its_own():
    attention = MultiHeadAttention(64, num_heads=HEADS, pattern=Full(), backend="reference")
    bound = math.sqrt(6 / (64 + 64))
    for projection in (attention.queries, attention.keys, attention.values, attention.output):
        assert 0.95 * bound < projection.weight.abs().max() <= bound
        assert projection.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)
        assert not projection.bias.any()


@every_backend
@pytest.mark.parametrize("value_width", [8, 32])
def test_values_may_be_narrower_or_wider_than_keys(backend, value_width):
    attention = MultiHeadAttention(D_MODEL, num_heads=HEADS, pattern=Full(), backend=backend, value_width=value_width)
    given = tokens(KEYS)
    seen = attention.project(given)
    assert seen.keys.shape == (BATCH, HEADS, KEYS, D_MODEL // HEADS)
    assert seen.values.shape == (BATCH, HEADS, KEYS, value_width // HEADS)
    weights = torch.softmax(scores(attention, given) / math.sqrt(D_MODEL / HEADS), dim=-1)
    heads = torch.einsum("bhqk,bhkv->bqhv", weights, seen.values).flatten(2)
    assert_same(attention(given, seen), attention.output(heads))


# ---- Layers


@every_backend
@every_activation
@every_norm_position
def test_encoder_layer_equals_torch(norm_position, activation, backend):
    theirs = torch_layer(nn.TransformerEncoderLayer, norm_position, activation)
    ours = EncoderLayer(layer_config(norm_position, activation, backend), pattern=Full())
    copy_encoder_layer(ours, theirs)
    given, observed = tokens(KEYS), last_ones_hidden(KEYS)
    assert_same(ours(given, observed=None), theirs(given))
    assert_same(ours(given, observed=observed), theirs(given, src_key_padding_mask=~observed))


@every_backend
@every_activation
@every_norm_position
def test_decoder_layer_equals_torch(norm_position, activation, backend):
    theirs = torch_layer(nn.TransformerDecoderLayer, norm_position, activation)
    ours = DecoderLayer(layer_config(norm_position, activation, backend), pattern=Causal())
    copy_decoder_layer(ours, theirs)
    given, context, observed = tokens(QUERIES), tokens(KEYS), last_ones_hidden(KEYS)
    expected = theirs(given, context, tgt_mask=future_hidden(QUERIES), memory_key_padding_mask=~observed)
    assert_same(ours(given, memory=ours.cross_attention.project(context), memory_observed=observed), expected)


def decoder_pair(norm_position: str, backend: str) -> tuple[DecoderStack, nn.TransformerDecoder]:
    """Give two layers over one memory; torch's Pre-LN stack ends in a norm as ours does."""
    final = nn.LayerNorm(D_MODEL) if norm_position == "pre" else None
    theirs = nn.TransformerDecoder(torch_layer(nn.TransformerDecoderLayer, norm_position, "gelu"), 2, norm=final)
    random_weights(theirs)
    ours = DecoderStack(layer_config(norm_position, "gelu", backend), num_layers=2, pattern=Causal())
    for layer, expected in zip(ours.layers, theirs.layers, strict=True):
        copy_decoder_layer(layer, expected)
    if final is not None:
        copy(ours.norm, final)
    return ours, theirs


@every_backend
@every_norm_position
def test_decoder_of_two_layers_equals_torch(norm_position, backend):
    ours, theirs = decoder_pair(norm_position, backend)
    given, context = tokens(QUERIES), tokens(KEYS)
    expected = theirs(given, context, tgt_mask=future_hidden(QUERIES))
    assert_same(ours(given, memory=ours.project_memory(context), memory_observed=None), expected)


@every_backend
@every_norm_position
def test_decoding_over_a_cache_equals_the_full_pass_of_torch(norm_position, backend):
    ours, theirs = decoder_pair(norm_position, backend)
    given, context = tokens(QUERIES), tokens(KEYS)
    stepwise = Stepwise(ours, context, None, capacity=QUERIES)
    stretches = given.split([3, 1, 1, 2], dim=1)  # the label first, then steps, then two at once
    decoded = [stepwise.decode(new) for new in stretches]
    assert_same(torch.cat(decoded, dim=1), theirs(given, context, tgt_mask=future_hidden(QUERIES)))
