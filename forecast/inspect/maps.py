"""What a trained model looks at while it forecasts a series of a frame: weights as arrays, placed in time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32, Int64

from forecast.artifact import Artifact
from forecast.batch import Batch, cut_newest
from forecast.errors import ConfigError, DataError
from forecast.frames.contract import prepare
from forecast.frames.panel import Panel
from forecast.inspect.attention import entropy
from forecast.inspect.look import Part, attentions_of, look_inside
from forecast.last_seen import show_newest
from forecast.model.patching import num_patches
from forecast.model.transformer import ForecastModel
from forecast.predictor import Predictor
from forecast.request import Request


@dataclass(frozen=True, eq=False)
class AttentionMaps:
    """The weights of one part of a model, in one forecast of one series."""

    part: Part
    series: str | int
    """Its id; for part 'channels' that of a series of the entity."""
    layers: tuple[int, ...]
    """Numbers of the layers, counted from 0."""
    heads: tuple[int, ...]
    """Numbers of the heads, counted from 0."""
    queries: Int64[np.ndarray, " query"]
    """Numbers of the tokens that look, counted from 0 at the oldest."""
    query_steps: Int64[np.ndarray, " query"]
    """The first step of each of them, counted from the first step forecast; for 'channels' the number of the target."""
    key_steps: Int64[np.ndarray, " key"]
    """The same of the tokens that are looked at."""
    weights: Float32[np.ndarray, "layer head query key"]
    """How much each looks at each: rows sum to 1, or are all 0 where a token may see nothing."""

    @property
    def entropy(self) -> Float32[np.ndarray, "layer head query"]:
        """How widely each looks, in nats: 0 where at one token, log(n) where at n alike."""
        return entropy(torch.from_numpy(self.weights)).numpy()


def attention_maps(
    artifact: Artifact,
    frame: Any,
    *,
    part: Part = "encoder",
    series: str | int | None = None,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    queries: Sequence[int] | None = None,
    future: Any = None,
    context_length: int | None = None,
) -> AttentionMaps:
    """Forecast one series of a long frame from its end and give what the attentions of a part look at meanwhile.

    The first series, all layers, heads and queries where none are named; memory grows with what is. For 'channels' the
    tokens are the targets of the entity at its newest stretch of time.

    Raises:
        ConfigError: the model has no such part, layer, head or query; `field` says which.
        DataError: the frame breaks the data contract, or the series is not in it or cannot be forecast.
    """
    request = Request.complete(artifact.card, context_length=context_length)
    panel = _panel(artifact, frame, future)
    number = _number_of(panel, series, artifact, context_length=request.context_length)
    return panel_maps(
        artifact.model,
        panel,
        number,
        part=part,
        layers=layers,
        heads=heads,
        queries=queries,
        context_length=request.context_length,
    )


def panel_maps(
    model: ForecastModel,
    panel: Panel,
    number: int,
    *,
    part: Part = "encoder",
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    queries: Sequence[int] | None = None,
    context_length: int,
) -> AttentionMaps:
    """Give the maps of a series of a panel by its number; see `attention_maps`."""
    count = panel.num_channels
    batch = _entity(panel, number // count * count, context_length=context_length, horizon=model.config.horizon)
    batch = batch.to(next(model.parameters()).device)
    attentions = attentions_of(model, part)
    query_steps, key_steps = token_steps(model, part, context_length=batch.past.shape[1])
    shown_layers = _chosen("layers", layers, len(attentions))
    shown_heads = _chosen("heads", heads, attentions[0].num_heads)
    shown = np.array(_chosen("queries", queries, len(query_steps)), dtype=np.int64)
    found = look_inside(model, batch, part=part, layers=shown_layers, queries=torch.from_numpy(shown))
    row = -1 if part == "channels" else number % count
    return AttentionMaps(
        part=part,
        series=panel.ids[number],
        layers=shown_layers,
        heads=shown_heads,
        queries=shown,
        query_steps=query_steps[shown],
        key_steps=key_steps,
        weights=torch.stack([weights[row] for weights in found])[:, list(shown_heads)].numpy(),
    )


def _panel(artifact: Artifact, frame: Any, future: Any) -> Panel:
    """Prepare a frame as for a forecast; series at fault are left out."""
    card = artifact.card
    contract = replace(card.contract, columns=replace(card.contract.columns, weight=None), frequency=card.frequency)
    prepared = prepare(
        frame,
        contract,
        covariates=future,
        horizon=card.horizon,
        schema=card.covariates,
        on_bad_series="leave_out",
    )
    return prepared.panel


def _number_of(panel: Panel, series: str | int | None, artifact: Artifact, *, context_length: int) -> int:
    name = panel.ids[0] if series is None else series
    if name not in panel.ids:
        raise DataError(
            f"series {name!r} is not among those of the frame that can be forecast, which begin with {panel.ids[:3]}",
            series=str(name),
        )
    if reason := Predictor(artifact).impossible(panel, context_length=context_length).get(name):
        raise reason
    return panel.ids.index(name)


def _entity(panel: Panel, first: int, *, context_length: int, horizon: int) -> Batch:
    """Cut the newest windows of all targets of an entity, no longer than the entity is."""
    numbers = np.arange(first, first + panel.num_channels)
    length = min(context_length, int(panel.lengths[first]))
    batch = cut_newest(panel, series=numbers, context_length=length, known_horizon=horizon)
    return show_newest(batch, panel, numbers)


def token_steps(
    model: ForecastModel, part: Part, *, context_length: int
) -> tuple[Int64[np.ndarray, " query"], Int64[np.ndarray, " key"]]:
    """Give the first step of each token that looks, and of each looked at, where the context is so long."""
    patch = model.config.patch_length
    if part == "channels":
        assert model.encoder.mixing is not None, "a model without channels has refused by now"
        numbers = np.arange(model.encoder.mixing.num_channels)
        return numbers, numbers
    count = num_patches(context_length, patch_length=patch)
    context = patch * np.arange(-count, 0)
    if part == "encoder":
        return context, context
    horizon = _horizon_steps(model)
    return horizon, horizon if part == "decoder" else context


def _horizon_steps(model: ForecastModel) -> Int64[np.ndarray, " query"]:
    """Give the first step of the patch that each token of the decoder forecasts."""
    patch = model.config.decoder.patch_length
    first = min(0, patch - model.decoder.label_length)  # the newest token of the label forecasts the first patch
    return np.arange(first, model.config.horizon, patch)


def _chosen(field: str, asked: Sequence[int] | None, count: int) -> tuple[int, ...]:
    if asked is None:
        return tuple(range(count))
    if wrong := [number for number in asked if not 0 <= number < count]:
        raise ConfigError(f"{field} holds {wrong[0]} and there are {count}, counted from 0", field=field)
    return tuple(int(number) for number in asked)
