"""How a model is trained: configuration only, so that reading it does not cost the import of Lightning."""

from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, PositiveInt
from torch import nn
from torch.optim import AdamW

from forecast.config import config

Precision = Literal["32-true", "bf16-mixed", "16-mixed"]


@config
class OptimizerConfig:
    """AdamW (Loshchilov & Hutter 2019) with warm-up and cosine."""

    learning_rate: PositiveFloat = 1e-3
    """At the end of the warm-up."""

    weight_decay: NonNegativeFloat = 0.01
    """On matrices; biases, norms and single vectors are left alone."""

    betas: tuple[float, float] = (0.9, 0.95)

    warmup_share: Annotated[float, Field(ge=0, le=1)] = 0.1
    """Part of all steps spent warming up."""

    def build(self, module: nn.Module) -> AdamW:
        """Build the optimizer over the parameters of a module."""
        matrices = [weight for weight in module.parameters() if weight.ndim > 1]
        vectors = [weight for weight in module.parameters() if weight.ndim <= 1]
        groups = [
            {"params": matrices, "weight_decay": self.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ]
        return AdamW(groups, lr=self.learning_rate, betas=self.betas)


@config
class TrainerConfig:
    """How long, how fast and on what a model is trained."""

    max_epochs: PositiveInt = 20

    max_steps: PositiveInt | None = None
    """Ends the run earlier; the schedule is laid over the shorter of the two."""

    batch_size: PositiveInt = 128
    """Windows a step."""

    stride: PositiveInt = 1
    """Steps between the origins of neighbouring training windows of a series."""

    validation_stride: PositiveInt = 1
    """Steps between the origins of neighbouring validation windows of a series."""

    buckets: tuple[PositiveInt, ...] = ()
    """Contexts below context_length, rising, at which windows with a shorter past are cut: a batch of them holds more
    windows, and no padding to the longest. A multiple of what the patches need; none cuts every window alike."""

    optimizer: OptimizerConfig = OptimizerConfig()

    gradient_clip: NonNegativeFloat = 1.0
    """Largest global norm of the gradient; 0 does not clip."""

    average_decay: float = Field(default=0.99, ge=0, lt=1)
    """Decay a step of the exponential moving average of the weights, which is what is validated and kept."""

    dropout_share: float = Field(default=1.0, ge=0, le=1)
    """Part of the steps, from the first on, in which anything is dropped; the rest trains the network as it is used."""

    monitor: Literal["validation_loss", "train_loss"] = "validation_loss"
    """What the best epoch and early stopping are judged by."""

    patience: PositiveInt = 5
    """Epochs without a better monitored loss before the run stops."""

    device: Literal["auto", "cpu", "cuda"] = "auto"

    precision: Precision = "32-true"
    """What products are computed in while training; softmax, norms and losses stay in fp32. `16-mixed` is for CUDA
    alone, and `bf16-mixed` is many times slower on a CPU without bf16 instructions."""

    compile: bool = False
    """Compile the layers with torch.compile: minutes at the start, which long runs on a GPU earn back."""
