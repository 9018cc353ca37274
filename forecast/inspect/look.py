"""One forecast of a model with its attentions watched: the pass that gives it, in one go and without a cache."""

from collections.abc import Sequence
from typing import Literal, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from forecast.attention.multihead import MultiHeadAttention
from forecast.batch import Batch
from forecast.errors import ConfigError
from forecast.inspect.attention import Queries, recorded
from forecast.model.context import Context
from forecast.model.decoding import Target
from forecast.model.layers import DecoderLayer, EncoderLayer
from forecast.model.transformer import ForecastModel

Layer = TypeVar("Layer", EncoderLayer, DecoderLayer)
Part = Literal["encoder", "channels", "decoder", "cross"]
"""Which attentions: among tokens of the context; among the targets of an entity; among tokens of the horizon; or those
of the horizon at the context."""


def attentions_of(model: ForecastModel, part: Part) -> list[MultiHeadAttention]:
    """Give the attentions of a part, one a layer.

    Raises:
        ConfigError: the model mixes no channels.
    """
    if part == "channels" and model.encoder.mixing is None:
        raise ConfigError("part 'channels' is asked for and the model mixes none; ask for 'encoder'", field="part")
    if part in ("encoder", "channels"):
        stack = model.encoder.layers if part == "encoder" else model.encoder.mixing
        return [layer.attention for layer in _layers(stack, EncoderLayer)]
    layers = _layers(model.decoder, DecoderLayer)
    return [layer.self_attention if part == "decoder" else layer.cross_attention for layer in layers]


def _layers(stack: nn.Module | None, kind: type[Layer]) -> list[Layer]:
    """Give the layers of a kind in their order."""
    return [] if stack is None else [module for module in stack.modules() if isinstance(module, kind)]


@torch.no_grad()
def look_inside(
    model: ForecastModel, batch: Batch, *, part: Part, layers: Sequence[int], queries: Queries | None = None
) -> list[Float[Tensor, "batch head query key"]]:
    """Give the weights of some layers of a part, counted from 0, while the model forecasts its horizon.

    The decoder is shown what it forecast itself, which gives the forecast again in one pass. Of the windows only past
    and covariates are looked at. Rows are those of the pass: for `channels` a row an entity and token of the context.
    """
    assert not model.training, "call eval() first: dropout would make the weights random"
    attentions = attentions_of(model, part)
    watched = [attentions[layer] for layer in layers]
    context = Context(batch.past, batch.past_observed, batch.covariates)
    if part in ("encoder", "channels"):
        with recorded(watched, queries=queries) as found:
            model.know(model.open(context).given)
    else:
        known = model.know(model.open(context).given)
        forecast = model.decoder.roll_out(known, horizon=model.config.horizon)[..., 0]
        with recorded(watched, queries=queries) as found:
            model.decoder.teach(known, Target(forecast, torch.ones_like(forecast, dtype=torch.bool)))
    return [weights for (weights,) in found]
