"""The Lightning module: teacher forcing in training, free running in validation."""

import torch
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
    """Trains one `ForecastModel`; logs `train_loss` and `validation_loss`, both in units of each series' spread."""

    def __init__(self, model: ForecastModel, optimizer: OptimizerConfig):
        super().__init__()
        self.model = model
        self.optimizer = optimizer

    def training_step(self, batch: Batch, _number: int) -> Float[Tensor, ""]:
        """Descend the teacher-forced loss."""
        loss = self.model.teacher_forced_loss(batch)
        self.log("train_loss", loss, on_step=False, on_epoch=True, prog_bar=True, batch_size=_weight(batch))
        return loss

    def validation_step(self, batch: Batch, _number: int) -> None:
        """Measure the free-running loss; steps weigh the same whatever batch they are in."""
        loss = self.model.free_running_loss(batch)
        self.log("validation_loss", loss, on_step=False, on_epoch=True, prog_bar=True, batch_size=_weight(batch))

    def configure_optimizers(self) -> OptimizerLRScheduler:
        """Give the optimizer and the schedule, stepped every step."""
        optimizer = self.optimizer.build(self.model)
        num_steps = int(self.trainer.estimated_stepping_batches)

        def factor(step: int) -> float:
            return warmup_cosine(step, num_steps=num_steps, warmup_share=self.optimizer.warmup_share)

        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": LambdaLR(optimizer, factor), "interval": "step"}}


def _weight(batch: Batch) -> int:
    return max(1, int(torch.count_nonzero(batch.future_observed)))
