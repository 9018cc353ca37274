"""What a model is made of: the configuration that, with its weights, is all that a forecast needs."""

from typing import Literal, Self

from pydantic import PositiveInt, model_validator

from forecast.attention.patterns import AnyPattern, Full, Linear
from forecast.attention.patterns.linear import NO_DROPOUT, POSITIONS
from forecast.config import config
from forecast.linear import Measure
from forecast.losses import AnyHead, Quantile
from forecast.model.decoding import AnyDecoder, Autoregressive
from forecast.model.draft import Ridge
from forecast.model.layers import LayerConfig
from forecast.model.scaling import MeanStd, Scaling
from forecast.position import Alibi, Position, Relative, Rope, Sinusoidal
from forecast.transform import Difference, Identity, Transform


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

    pattern: AnyPattern = Full()
    """Which tokens of the context see each other; the decoder has one of its own."""

    position: Position = Sinusoidal()

    transform: Transform = Identity()
    """How the target is changed before anything sees it; forecasts are changed back."""

    scaling: Scaling = MeanStd()

    decoder: AnyDecoder = Autoregressive()

    head: AnyHead = Quantile()

    draft: Ridge | None = None
    """A closed-form forecast that the decoder is given and refines."""

    channels: Literal["independent", "mixed"] = "independent"
    """Whether the several targets of an entity are forecast each by itself, or see each other in the encoder."""

    loss_unit: Measure = "series"
    """What errors are measured in while training: the spread of the series, or that of the window's own past."""

    non_negative: bool = False
    """Cut what a forecast says below 0, mean and quantiles alike; for targets that are never negative."""

    @property
    def draft_context(self) -> int:
        """Steps of the context that the draft is made from."""
        own = self.draft.context_length if self.draft is not None else None
        return own or self.context_length

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.layer.d_model % self.layer.num_heads:
            raise ValueError(f"d_model {self.layer.d_model} must be a multiple of num_heads {self.layer.num_heads}")
        if isinstance(self.transform, Difference):
            self._check_difference(self.transform)
        if isinstance(self.pattern, Linear) or isinstance(self.decoder.pattern, Linear):
            self._check_linear()
        if self.draft_context > self.context_length:
            raise ValueError(
                f"the draft's context {self.draft_context} must lie inside context_length {self.context_length}"
            )
        return self

    def _check_linear(self) -> None:
        """Refuse what linear attention cannot do before training meets it."""
        if isinstance(self.position, Alibi | Relative | Rope):
            raise ValueError(
                f"position {self.position.kind!r} acts on the scores of attention, and pattern 'linear' has none; use "
                f"{POSITIONS}"
            )
        backend = self.layer.attention_backend
        if backend not in ("auto", "reference"):
            raise ValueError(
                f"attention_backend {backend!r} does not serve both pattern 'linear' and the softmax with which the "
                f"decoder looks at the context; use attention_backend 'auto', which takes the fastest for each"
            )
        if self.layer.attention_dropout and backend != "reference":
            raise ValueError(NO_DROPOUT)

    def _check_difference(self, transform: Difference) -> None:
        if transform.lag >= self.context_length:
            raise ValueError(
                f"transform.lag {transform.lag} must be less than context_length {self.context_length}, or a context "
                f"shows no change"
            )
        if self.draft is not None:
            raise ValueError(
                "a draft is made from values and transform 'difference' leaves changes; leave one of them out, or give "
                "the draft level 'newest', which has it start from the newest value by itself"
            )
