"""The Lightning module: teacher forcing in training, free running in validation."""

from typing import Any

from jaxtyping import Float
from lightning.pytorch import LightningModule
from lightning.pytorch.utilities.types import OptimizerLRScheduler
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR

from forecast.batch import Batch
from forecast.model.transformer import ForecastModel
from forecast.training.config import OptimizerConfig
from forecast.training.schedule import warmup_cosine


class TeacherForcing(LightningModule):
    """Trains one `ForecastModel`; logs `train_loss` and `validation_loss`, both in the model's `loss_unit`."""

    def __init__(self, model: ForecastModel, optimizer: OptimizerConfig):
        super().__init__()
        self.model = model
        self.optimizer = optimizer

    def training_step(self, batch: Batch, _number: int) -> Float[Tensor, ""]:
        """Descend the teacher-forced loss."""
        loss = self.model.teacher_forced_loss(batch)
        self._log("train_loss", loss, batch)
        return loss

    def validation_step(self, batch: Batch, _number: int) -> None:
        """Measure the free-running loss."""
        self._log("validation_loss", self.model.free_running_loss(batch), batch)

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """Give the optimizer and the schedule, stepped every step."""
        optimizer = self.optimizer.build(self.model)
        num_steps = int(self.trainer.estimated_stepping_batches)

        def factor(step: int) -> float:
            return warmup_cosine(step, num_steps=num_steps, warmup_share=self.optimizer.warmup_share)

        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": LambdaLR(optimizer, factor), "interval": "step"}}

    def _log(self, name: str, loss: Float[Tensor, ""], batch: Batch) -> None:
        """Average the loss over an epoch so that steps weigh the same whatever batch they are in."""
        scored = self.model.scored_steps(batch)
        count = int(scored.sum()) if batch.weight is None else float((batch.weight * scored).sum())
        # Lightning multiplies losses by it and divides by its sum: weights do as well as whole numbers of steps.
        size: Any = count or NOTHING
        self.log(name, loss, on_step=False, on_epoch=True, prog_bar=True, batch_size=size)


NOTHING = 1e-12  # steps of a batch without any: it adds nothing to the mean, and an epoch of such batches has one
