"""The model: scaling, draft, encoder, decoder and head, for training and for forecasting."""

from dataclasses import dataclass, replace
from typing import Self

import torch
from jaxtyping import Bool, Float, Float64
from pydantic import PositiveInt, model_validator
from torch import Tensor, nn

from forecast.batch import Batch, CovariateWindows
from forecast.config import config
from forecast.covariate_scales import CovariateScales
from forecast.errors import ColumnMissing
from forecast.forecast import Forecast
from forecast.frames.covariates import CovariateSchema
from forecast.linear import LinearMap, Measure
from forecast.losses import AnyHead, Quantile, masked_mean
from forecast.model.covariates import Beside, CovariateFeatures
from forecast.model.decoding import AnyDecoder, Autoregressive, Direct, Known, Setting, Target
from forecast.model.draft import Draft, Ridge
from forecast.model.encoder import Encoder
from forecast.model.layers import LayerConfig
from forecast.model.patching import num_patches, pad_steps
from forecast.model.scaling import MeanStd, Scale, Scaling
from forecast.position import NoPosition, Position, Sinusoidal


@config
class ModelConfig:
    """The architecture of one model; with the weights it is all that a forecast needs."""

    context_length: PositiveInt
    """Steps of the past seen in training; any context is accepted afterwards."""

    horizon: PositiveInt
    """Steps forecast in training; longer horizons are rolled out in blocks of it."""

    patch_length: PositiveInt = 1
    """Steps of the context in one encoder token; 1 is a token a step."""

    num_encoder_layers: PositiveInt = 2

    layer: LayerConfig = LayerConfig()

    position: Position = Sinusoidal()

    scaling: Scaling = MeanStd()

    decoder: AnyDecoder = Autoregressive()

    head: AnyHead = Quantile()

    draft: Ridge | None = None
    """A closed-form forecast that the decoder is given and refines."""

    loss_unit: Measure = "series"
    """What errors are measured in while training: the spread of the series, or that of the window's own past."""

    @property
    def draft_context(self) -> int:
        """Steps of the context that the draft is made from."""
        own = self.draft.context_length if self.draft is not None else None
        return own or self.context_length

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.layer.d_model % self.layer.num_heads:
            raise ValueError(f"d_model {self.layer.d_model} must be a multiple of num_heads {self.layer.num_heads}")
        if isinstance(self.decoder, Direct) and isinstance(self.position, NoPosition) and self.draft is None:
            raise ValueError(
                "decoder 'direct' tells the steps of the horizon apart by position; choose another than 'none'"
            )
        if self.draft_context > self.context_length:
            raise ValueError(
                f"the draft's context {self.draft_context} must lie inside context_length {self.context_length}"
            )
        return self


@dataclass(frozen=True, eq=False)
class Window:
    """A window as the network sees it."""

    known: Known
    scale: Scale


class ForecastModel(nn.Module):
    """An encoder-decoder Transformer over patches (Vaswani et al. 2017; Nie et al. 2023)."""

    def __init__(self, config: ModelConfig, *, covariates: CovariateSchema | None = None):
        super().__init__()
        self.config = config
        self.schema = covariates or CovariateSchema()
        num_positions = num_patches(config.context_length, patch_length=config.patch_length)
        features = CovariateFeatures(self.schema, d_model=config.layer.d_model) if self.schema else None
        self.encoder = Encoder(
            config.layer,
            patch_length=config.patch_length,
            num_layers=config.num_encoder_layers,
            position=config.position.build(config.layer.d_model, num_positions=num_positions),
            num_covariate_features=0 if features is None else features.num_context,
        )
        self.decoder = config.decoder.build(
            Setting(
                config.layer,
                config.position,
                horizon=config.horizon,
                num_parameters=config.head.num_parameters,
                has_draft=config.draft is not None,
                num_ahead=0 if features is None else features.num_ahead,
            )
        )
        self.draft = self._unsolved_draft()
        self.covariates = features

    def install_draft(self, solved: LinearMap) -> None:
        """Give the model its solved draft, before training."""
        assert self.draft is not None, "the configuration has no draft"
        self.draft.install(solved)

    def install_covariate_scales(self, scales: CovariateScales) -> None:
        """Give the model what its covariates are measured in, before training."""
        assert self.covariates is not None, "the model has no covariates"
        self.covariates.install(scales)

    def _unsolved_draft(self) -> Draft | None:
        draft = self.config.draft
        if draft is None:
            return None
        return Draft(context_length=self.config.draft_context, horizon=self.config.horizon, level=draft.level)

    def teacher_forced_loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Give the loss of a batch while the decoder is shown earlier target steps: what training descends.

        Measured in `loss_unit`. Unobserved steps, and windows whose past does not move, weigh nothing.
        """
        window, target = self._taught(batch)
        return self._loss(self.decoder.teach(window.known, target), batch, window, target)

    def free_running_loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Give the same loss while the decoder is fed its own forecasts: what users will get, so what is validated."""
        window, target = self._taught(batch)
        horizon = batch.future.shape[1]
        return self._loss(self.decoder.roll_out(window.known, horizon=horizon), batch, window, target)

    def scored_steps(self, batch: Batch) -> Bool[Tensor, "batch horizon"]:
        """Tell which steps the losses are the mean of: the observed ones of windows whose past moves."""
        return _scored(batch, self.config.scaling.measure(batch.past, batch.past_observed))

    @torch.inference_mode()
    def forecast(
        self,
        past: Float64[Tensor, "batch context"],
        past_observed: Bool[Tensor, "batch context"],
        *,
        horizon: int,
        quantile_levels: tuple[float, ...] | None = None,
        covariates: CovariateWindows | None = None,
    ) -> Forecast:
        """Forecast any horizon from any context, in the units of `past`; the head's own levels where none are given.

        `covariates` spans the context and the horizon, for a model that was trained with some.

        Beyond the trained horizon the forecast goes on in blocks, each from a context that ends in the medians of the
        block before: intervals of later blocks do not hold the uncertainty of those medians.

        Raises:
            ContextTooLong: learned positions do not reach as far as the context.
            QuantilesUnavailable: levels were asked of a point model.
        """
        assert not self.training, "call eval() first: dropout would make the forecast random"
        levels = self.config.head.default_quantile_levels if quantile_levels is None else quantile_levels
        means, quantiles, done = [], [], 0
        origin = past.shape[1]
        while done < horizon:
            beside = self._known_at(covariates, origin=origin + done, context_length=past.shape[1])
            size = min(horizon - done, self.config.horizon)
            block = self._block(past, past_observed, beside, horizon=size, levels=levels)
            means.append(block.mean)
            quantiles.append(block.quantiles)
            done += block.mean.shape[1]
            past, past_observed = _append(past, past_observed, block.median)
        return Forecast(
            mean=torch.cat(means, dim=1).cpu().numpy(),
            quantiles=torch.cat(quantiles, dim=1).cpu().numpy(),
            quantile_levels=levels,
        )

    def _block(
        self,
        past: Tensor,
        past_observed: Tensor,
        covariates: CovariateWindows | None,
        *,
        horizon: int,
        levels: tuple[float, ...],
    ) -> "Block":
        window = self._window(past, past_observed, covariates, horizon=self.config.horizon)
        parameters = self.decoder.roll_out(window.known, horizon=horizon)
        head, undo = self.config.head, window.scale.undo
        return Block(
            mean=undo(head.mean(parameters)),
            median=undo(head.median(parameters)),
            quantiles=undo(head.quantiles(parameters, levels)),
        )

    def _taught(self, batch: Batch) -> tuple[Window, Target]:
        horizon = batch.future.shape[1]
        window = self._window(batch.past, batch.past_observed, batch.covariates, horizon=horizon)
        return window, Target(window.scale.apply(batch.future), batch.future_observed)

    def _loss(self, parameters: Tensor, batch: Batch, window: Window, target: Target) -> Float[Tensor, ""]:
        loss = self.config.head.loss(parameters, target.future, self._unit(window.scale, batch))
        return masked_mean(loss, _scored(batch, window.scale))

    def _unit(self, scale: Scale, batch: Batch) -> Float[Tensor, "batch 1"]:
        """Give the window's own scale in the unit of the loss."""
        own = scale.spread if self.config.loss_unit == "series" else batch.unit[:, None]
        return (own / batch.unit[:, None]).float()

    def _known_at(
        self, covariates: CovariateWindows | None, *, origin: int, context_length: int
    ) -> CovariateWindows | None:
        """Give what is known of the context before a step and of the trained horizon from it on."""
        if covariates is None:
            return None
        last = origin + self.config.horizon
        missing = max(0, last - covariates.steps.shape[1])
        kept = slice(origin - context_length, last)
        return replace(
            covariates,
            steps=pad_steps(covariates.steps[:, kept], after=missing),
            steps_observed=pad_steps(covariates.steps_observed[:, kept], after=missing),
        )

    def _window(
        self, past: Tensor, past_observed: Tensor, covariates: CovariateWindows | None = None, *, horizon: int
    ) -> Window:
        scale = self.config.scaling.measure(past, past_observed)
        scaled = scale.apply(past) * past_observed
        beside = self._beside(covariates, context_length=past.shape[1])
        known = Known(
            memory=self.encoder(scaled, past_observed, beside=beside),
            past=scaled,
            past_observed=past_observed,
            draft=self._draft(past, past_observed, scale, horizon=horizon),
            label_draft=self._label_draft(past, past_observed, scale),
            ahead=None if beside is None else self._ahead(beside, context_length=past.shape[1]),
            static=None if beside is None else beside.static,
        )
        return Window(known, scale)

    def _beside(self, covariates: CovariateWindows | None, *, context_length: int) -> Beside | None:
        if self.covariates is None:
            return None
        if covariates is None:
            names = ", ".join(covariate.name for covariate in (*self.schema.steps, *self.schema.static))
            raise ColumnMissing(f"the model was trained with covariates and is given none; give {names}")
        return self.covariates(covariates, context_length=context_length)

    def _ahead(self, beside: Beside, *, context_length: int) -> Tensor | None:
        """Give what is known ahead of label and horizon; what lies before the context is unknown."""
        if not beside.ahead.shape[-1]:
            return None
        length = self.decoder.label_length
        known = beside.ahead[:, max(0, context_length - length) :]
        return pad_steps(known, before=max(0, length - context_length))

    def _draft(self, past: Tensor, past_observed: Tensor, scale: Scale, *, horizon: int) -> Tensor | None:
        return None if self.draft is None else scale.apply(self.draft(past, past_observed, horizon=horizon))

    def _label_draft(self, past: Tensor, past_observed: Tensor, scale: Scale) -> Tensor | None:
        """Draft the label from what came before it; with nothing before it, the draft is the level."""
        length = self.decoder.label_length
        earlier, earlier_observed = past[:, :-length], past_observed[:, :-length]
        drafted = self._draft(earlier, earlier_observed, scale, horizon=length) if length else None
        return None if drafted is None else drafted * earlier_observed.any(dim=1, keepdim=True)


@dataclass(frozen=True, eq=False)
class Block:
    """A stretch of the horizon in the caller's units."""

    mean: Float64[Tensor, "batch horizon"]
    median: Float64[Tensor, "batch horizon"]
    quantiles: Float64[Tensor, "batch horizon quantile"]


def _scored(batch: Batch, scale: Scale) -> Bool[Tensor, "batch horizon"]:
    return batch.future_observed & scale.moves


def _append(past: Tensor, past_observed: Tensor, median: Tensor) -> tuple[Tensor, Tensor]:
    """Move the context on by the block just forecast; its length stays, unless it is shorter than the block."""
    length = max(past.shape[1], median.shape[1])
    observed = torch.ones_like(median, dtype=torch.bool)
    return torch.cat([past, median], 1)[:, -length:], torch.cat([past_observed, observed], 1)[:, -length:]
