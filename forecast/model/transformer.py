"""The model: scaling, draft, encoder, decoder and head, for training and for forecasting."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Float64
from torch import Tensor, nn

from forecast.batch import Batch, CovariateWindows
from forecast.covariate_scales import CovariateScales
from forecast.errors import ColumnMissing
from forecast.forecast import Forecast
from forecast.frames.covariates import CovariateSchema
from forecast.linear import LinearMap
from forecast.losses import masked_mean
from forecast.model.channels import ChannelMixing
from forecast.model.config import ModelConfig
from forecast.model.context import Context
from forecast.model.covariates import Beside, CovariateFeatures
from forecast.model.decoding import Given, Known, Setting, Target
from forecast.model.draft import Draft
from forecast.model.encoder import Encoder
from forecast.model.package import Package
from forecast.model.patching import num_patches, pad_steps
from forecast.model.paths import Paths, draw_levels, sample_paths
from forecast.model.units import Block, Levels, Units, join, measure_units, read_paths


@dataclass(frozen=True, eq=False)
class Window:
    """A window as the network sees it."""

    given: Given
    units: Units


class ForecastModel(nn.Module):
    """An encoder-decoder Transformer over patches (Vaswani et al. 2017; Nie et al. 2023)."""

    def __init__(self, config: ModelConfig, *, covariates: CovariateSchema | None = None, channels: Sequence[str] = ()):
        """Build an untrained model, told `covariates` beside the target; `channels` names several targets."""
        super().__init__()
        self.config = config
        self.transform = config.transform.build()
        self.schema = covariates or CovariateSchema()
        features = CovariateFeatures(self.schema, d_model=config.layer.d_model) if self.schema else None
        mixing = None
        if config.channels == "mixed":
            mixing = ChannelMixing(config.layer, num_channels=len(channels), num_layers=config.num_encoder_layers)
        self.encoder = Encoder(
            config.layer,
            patch_length=config.patch_length,
            num_layers=config.num_encoder_layers,
            position=config.position,
            num_positions=num_patches(config.context_length, patch_length=config.patch_length),
            pattern=config.pattern,
            num_covariate_features=0 if features is None else features.num_context,
            mixing=mixing,
        )
        self.decoder = config.decoder.build(
            Setting(
                config.layer,
                config.position,
                horizon=config.horizon,
                context_patch_length=config.patch_length,
                num_parameters=config.head.num_parameters,
                has_draft=config.draft is not None,
                num_ahead=0 if features is None else features.num_ahead,
            )
        )
        self.draft = self._unsolved_draft()
        self.covariates = features
        self.package: Package | None = None

    @property
    def num_channels(self) -> int:
        """Rows of a batch that belong together: the targets of an entity where they are mixed, else one."""
        return 1 if self.encoder.mixing is None else self.encoder.mixing.num_channels

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

        Measured in `loss_unit`, of the transformed target. Unobserved steps, and windows whose past does not move,
        weigh nothing; the others weigh as the batch says.
        """
        window, target = self._taught(batch)
        return self._loss(self.decoder.teach(self.know(window.given), target), batch, window, target)

    def free_running_loss(self, batch: Batch) -> Float[Tensor, ""]:
        """Give the same loss while the decoder is fed its own forecasts: what users will get, so what is validated."""
        window, target = self._taught(batch)
        horizon = batch.future.shape[1]
        return self._loss(self.decoder.roll_out(self.know(window.given), horizon=horizon), batch, window, target)

    def scored_steps(self, batch: Batch) -> Bool[Tensor, "batch horizon"]:
        """Tell which steps the losses are the mean of: the observed ones of windows whose past moves."""
        return _scored(batch, self._measure(batch.past, batch.past_observed, horizon=batch.future.shape[1]))

    @torch.inference_mode()
    def forecast(
        self,
        past: Float64[Tensor, "batch context"],
        past_observed: Bool[Tensor, "batch context"],
        *,
        horizon: int,
        quantile_levels: tuple[float, ...] | None = None,
        covariates: CovariateWindows | None = None,
        num_samples: int | None = None,
        seed: int = 0,
        row_ids: Sequence[int] | None = None,
    ) -> Forecast:
        """Forecast any horizon from any context, in the units of `past`; the head's own levels where none are given.

        `covariates` spans the context and the horizon, for a model that was trained with some.

        Beyond the trained horizon the forecast goes on in blocks, each from a context that ends in the medians of the
        block before: intervals of later blocks do not hold the uncertainty of those medians. With `num_samples` mean
        and quantiles are those of so many sample paths, and each path goes on from what it drew itself: intervals then
        hold all of it. Draws hang on `seed` and a row's id, by default its number, and not on the rows beside it.

        Raises:
            ContextTooLong: learned positions do not reach as far as the context.
            QuantilesUnavailable: levels or sample paths were asked of a point model.
        """
        assert not self.training, "call eval() first: dropout would make the forecast random"
        levels = self.config.head.default_quantile_levels if quantile_levels is None else quantile_levels
        context = Context(past, past_observed, covariates)
        if num_samples is None:
            return join(self._blocks(context, horizon=horizon, levels=levels), levels)
        rows = range(len(past)) if row_ids is None else row_ids
        drawn = draw_levels(rows, seed=seed, num_paths=num_samples, horizon=horizon).to(past.device)
        paths = sample_paths(self._draw, context, drawn, block=self.config.horizon, num_channels=self.num_channels)
        return join([read_paths(paths, levels)], levels)

    def _blocks(self, context: Context, *, horizon: int, levels: Levels) -> Iterator[Block]:
        """Forecast block by block, each from the medians of those before."""
        done = 0
        while done < horizon:
            window = self.open(context)
            size = min(horizon - done, self.config.horizon)
            parameters = self._roll_out(window.given, horizon=size)
            block = window.units.block(self.config.head, parameters, levels)
            yield block
            done += size
            context = context.followed_by(block.median)

    def _draw(self, context: Context, levels: Paths) -> Paths:
        """Draw the values of a block at levels, in the caller's units."""
        window = self.open(context)
        scaled = self.decoder.sample(self.know(window.given), levels=levels, head=self.config.head)
        return window.units.restore_paths(scaled)

    def open(self, context: Context) -> Window:
        """Give the window of a context and of a block after it, as a forecast sees it."""
        horizon = self.config.horizon
        return self._window(context.past, context.past_observed, context.beside(horizon=horizon), horizon=horizon)

    def know(self, given: Given, *, hides_none: bool | None = None) -> Known:
        """Encode what is given; for `hides_none` see `Encoder`."""
        memory = self.encoder(
            given.past, given.past_observed, beside=given.beside, static=given.static, hides_none=hides_none
        )
        return Known(memory=memory, **vars(given))

    def _roll_out(self, given: Given, *, horizon: int) -> Float[Tensor, "batch {horizon} parameter"]:
        """Give the head's parameters, by the package where there is one for what is asked."""
        if self.package is not None and self.package.serves(given, horizon=horizon):
            return self.package.run(given)[:, :horizon]
        return self.decoder.roll_out(self.know(given), horizon=horizon)

    def _taught(self, batch: Batch) -> tuple[Window, Target]:
        horizon = batch.future.shape[1]
        window = self._window(batch.past, batch.past_observed, batch.covariates, horizon=horizon)
        return window, Target(window.units.future(batch.future, batch.future_observed), batch.future_observed)

    def _loss(self, parameters: Tensor, batch: Batch, window: Window, target: Target) -> Float[Tensor, ""]:
        unit = window.units.loss_unit(batch.unit, measure=self.config.loss_unit)
        loss = self.config.head.loss(parameters, target.future, unit)
        return masked_mean(loss, _scored(batch, window.units), weight=batch.weight)

    def _measure(self, past: Tensor, past_observed: Tensor, *, horizon: int) -> Units:
        return measure_units(
            past,
            past_observed,
            transformation=self.transform,
            scaling=self.config.scaling,
            horizon=horizon,
            lowest=0.0 if self.config.non_negative else None,
        )

    def _window(
        self, past: Tensor, past_observed: Tensor, covariates: CovariateWindows | None = None, *, horizon: int
    ) -> Window:
        units = self._measure(past, past_observed, horizon=horizon)
        past, past_observed = units.transformed.past, units.transformed.observed
        beside = self._beside(covariates, context_length=past.shape[1])
        given = Given(
            past=units.past,
            past_observed=past_observed,
            draft=self._draft(past, past_observed, units, horizon=horizon),
            label_draft=self._label_draft(past, past_observed, units),
            beside=None if beside is None else beside.context,
            ahead=None if beside is None else self._ahead(beside, context_length=past.shape[1]),
            static=None if beside is None else beside.static,
        )
        return Window(given, units)

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

    def _draft(self, past: Tensor, past_observed: Tensor, units: Units, *, horizon: int) -> Tensor | None:
        return None if self.draft is None else units.scale.apply(self.draft(past, past_observed, horizon=horizon))

    def _label_draft(self, past: Tensor, past_observed: Tensor, units: Units) -> Tensor | None:
        """Draft the label from what came before it; with nothing before it, the draft is the level."""
        length = self.decoder.label_length
        earlier, earlier_observed = past[:, :-length], past_observed[:, :-length]
        drafted = self._draft(earlier, earlier_observed, units, horizon=length) if length else None
        return None if drafted is None else drafted * earlier_observed.any(dim=1, keepdim=True)


def _scored(batch: Batch, units: Units) -> Bool[Tensor, "batch horizon"]:
    return batch.future_observed & units.scale.moves
