"""Maps of a frame's series: placed in time, of the layers, heads and queries asked for, and of the forecast itself."""

import re

import numpy as np
import polars as pl
import pytest
import torch

from forecast.artifact import Artifact
from forecast.card import describe
from forecast.config import build_config
from forecast.errors import ConfigError, DataError
from forecast.frames.contract import Columns, DataContract, prepare
from forecast.inspect.look import attentions_of, look_inside
from forecast.inspect.maps import attention_maps
from forecast.model.config import ModelConfig
from forecast.model.transformer import ForecastModel
from tests.contract.told import _artifact, told_contract, told_frames
from tests.forecast.model.kinds import HORIZON, KINDS, make_batch, make_model
from tests.tiny_model import SPREAD, tiny_artifact, tiny_history

PARTS = ("encoder", "decoder", "cross")


@pytest.fixture(scope="module")
def artifact() -> Artifact:
    return tiny_artifact(num_encoder_layers=3)


@pytest.mark.parametrize("part", PARTS)
def test_weights_have_a_row_for_each_query_and_a_column_for_each_key(artifact: Artifact, part: str) -> None:
    maps = attention_maps(artifact, tiny_history(), part=part)
    assert maps.weights.shape == (len(maps.layers), 2, len(maps.query_steps), len(maps.key_steps))
    np.testing.assert_allclose(maps.weights.sum(axis=-1), 1.0, rtol=1e-5)
    assert maps.layers == ((0, 1, 2) if part == "encoder" else (0,))
    assert maps.heads == (0, 1)
    assert maps.series == "a"


def test_tokens_are_placed_by_their_first_step_from_the_first_step_forecast(artifact: Artifact) -> None:
    context, horizon = [-24, -20, -16, -12, -8, -4], [0, 2, 4]
    for part, queries, keys in (
        ("encoder", context, context),
        ("decoder", horizon, horizon),
        ("cross", horizon, context),
    ):
        maps = attention_maps(artifact, tiny_history(), part=part)
        assert maps.query_steps.tolist() == queries
        assert maps.key_steps.tolist() == keys


@pytest.mark.parametrize("kind", KINDS)
def test_tokens_are_as_many_as_the_model_has(kind: str) -> None:
    decoder = KINDS[kind].get("decoder", {"kind": "autoregressive", "patch_length": 2})
    artifact = tiny_artifact(**{"draft": None, **KINDS[kind], "decoder": decoder})
    for part in PARTS:
        maps = attention_maps(artifact, tiny_history(), part=part, context_length=22)
        assert maps.weights.shape[2:] == (len(maps.query_steps), len(maps.key_steps))


def test_a_label_stands_before_the_horizon() -> None:
    decoder = {"kind": "autoregressive", "patch_length": 2, "label_length": 6}
    maps = attention_maps(tiny_artifact(decoder=decoder), tiny_history(), part="decoder")
    assert maps.query_steps.tolist() == [-4, -2, 0, 2, 4]
    assert (maps.weights[0, 0][np.triu_indices(5, 1)] == 0).all()


def test_what_is_asked_for_is_cut_out_of_the_whole(artifact: Artifact) -> None:
    whole = attention_maps(artifact, tiny_history())
    some = attention_maps(artifact, tiny_history(), layers=[2, 0], heads=[1], queries=[5, 3])
    np.testing.assert_allclose(some.weights, whole.weights[np.ix_([2, 0], [1], [5, 3])], rtol=1e-5)
    assert (some.layers, some.heads, some.queries.tolist()) == ((2, 0), (1,), [5, 3])
    assert some.query_steps.tolist() == [-4, -12]
    np.testing.assert_allclose(some.entropy, whole.entropy[np.ix_([2, 0], [1], [5, 3])], rtol=1e-5)


def test_each_series_has_maps_of_its_own(artifact: Artifact) -> None:
    history = tiny_history()
    maps = {name: attention_maps(artifact, history, series=name) for name in ("a", "b")}
    alone = attention_maps(artifact, history.filter(pl.col("unique_id") == "b"))
    assert maps["b"].series == alone.series == "b"
    np.testing.assert_array_equal(maps["b"].weights, alone.weights)


def test_a_short_series_has_no_tokens_before_its_beginning(artifact: Artifact) -> None:
    maps = attention_maps(artifact, tiny_history(num_steps=9))
    assert maps.key_steps.tolist() == [-12, -8, -4]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"layers": [3]}, "layers holds 3 and there are 3, counted from 0"),
        ({"heads": [-1]}, "heads holds -1 and there are 2, counted from 0"),
        ({"queries": [6]}, "queries holds 6 and there are 6, counted from 0"),
        ({"part": "channels"}, "the model mixes none; ask for 'encoder'"),
        ({"context_length": 0}, "context_length must be 1 step or more"),
    ],
)
def test_what_the_model_has_not_is_told(artifact: Artifact, asked: dict, told: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(told)) as refused:
        attention_maps(artifact, tiny_history(), **asked)
    assert refused.value.field == next(iter(asked))


def test_a_series_that_is_not_there_or_has_no_value_is_told(artifact: Artifact) -> None:
    with pytest.raises(DataError, match=r"series 'z' is not among those.*'a', 'b'"):
        attention_maps(artifact, tiny_history(), series="z")
    silent = tiny_history().with_columns(y=pl.when(pl.col("unique_id") == "b").then(None).otherwise("y"))
    with pytest.raises(DataError, match=r"'b'"):
        attention_maps(artifact, silent, series="b")


def test_a_changed_past_changes_what_is_looked_at(artifact: Artifact) -> None:
    history = tiny_history()
    changed = history.with_columns(y=pl.when(pl.col("ds") == pl.col("ds").max()).then(50.0).otherwise("y"))
    for part in PARTS:
        one, other = (attention_maps(artifact, frame, part=part).weights for frame in (history, changed))
        assert not np.allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("kind", ["autoregressive", "alibi from a label", "direct", "local"])
def test_the_decoder_is_watched_while_it_gives_the_forecast(kind: str) -> None:
    model, batch, given = make_model(kind), make_batch(), []
    model.decoder.output.register_forward_hook(lambda _module, _given, output: given.append(output[..., 0]))
    look_inside(model, batch, part="decoder", layers=[0])
    known = model.know(model._window(batch.past, batch.past_observed, horizon=HORIZON).given)
    expected = model.decoder.roll_out(known, horizon=HORIZON)[..., 0]
    watched = given[-2] if kind == "direct" else given[HORIZON // model.decoder.patch_length]
    torch.testing.assert_close(watched[:, :HORIZON], expected, atol=1e-5, rtol=1e-5)


def test_a_layer_of_the_encoder_is_watched_in_its_place() -> None:
    model = make_model("autoregressive", num_encoder_layers=3)
    assert [
        attention is layer.attention
        for attention, layer in zip(attentions_of(model, "encoder"), model.encoder.layers, strict=True)
    ] == [True] * 3


def test_of_several_targets_each_has_its_row_and_channels_look_at_each_other() -> None:
    contract = DataContract(columns=Columns(target=("load", "wind", "sun")))
    frame = tiny_history().with_columns(load=pl.col("y"), wind=20 - pl.col("y") / 3, sun=pl.col("y") ** 2).drop("y")
    prepared = prepare(frame, contract)
    plain = {"context_length": 24, "horizon": 6, "patch_length": 4, "layer": {"d_model": 8, "num_heads": 2}}
    model = ForecastModel(build_config(ModelConfig, {**plain, "channels": "mixed"}), channels=("load", "wind", "sun"))
    for tensor in model.state_dict().values():
        tensor.copy_(torch.randn_like(tensor) * SPREAD)
    card = describe(model, prepared, name="three", contract=contract, ends=prepared.panel.lengths, backtest={})
    artifact = Artifact(model, card)
    load, wind = (attention_maps(artifact, frame, series=f"b/{name}") for name in ("load", "wind"))
    assert not np.allclose(load.weights, wind.weights)
    channels = attention_maps(artifact, frame, part="channels", series="b/wind")
    assert channels.weights.shape == (2, 2, 3, 3)
    assert channels.key_steps.tolist() == [0, 1, 2]
    np.testing.assert_allclose(channels.weights.sum(axis=-1), 1.0, rtol=1e-5)


def test_what_is_known_ahead_is_seen_by_the_decoder_alone() -> None:
    artifact = _artifact(told_contract())
    history, ahead = told_frames({"a": 40})
    dearer = ahead.with_columns(price=pl.col("price") + 5)
    for part, differs in (("cross", True), ("encoder", False)):
        one, other = (attention_maps(artifact, history, future=future, part=part).weights for future in (ahead, dearer))
        assert np.array_equal(one, other) != differs
