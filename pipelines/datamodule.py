"""Windows as Lightning wants them: data sets that gather a whole batch in one step, and loaders with a seeded order."""

from collections.abc import Iterator, Sequence

import lightning.pytorch as pl
import numpy as np
import torch
from jaxtyping import Float64
from torch.utils.data import DataLoader, Dataset, Sampler

from forecast.batch import Batch, cut_windows
from forecast.frames.panel import Panel
from pipelines.split import Parts, train_units
from pipelines.windows import WindowIndex, test_windows, training_windows, validation_windows

CHUNK = 4096  # numbers that are Python objects at one time: as such they weigh five times what they do in a tensor


class WindowDataset(Dataset[Batch]):
    """The windows of one part; a loader asks for the windows of a batch together and gets the batch."""

    def __init__(
        self,
        panel: Panel,
        index: WindowIndex,
        *,
        context_length: int,
        horizon: int,
        units: Float64[np.ndarray, " series"],
    ):
        self.panel = panel
        self.index = index
        self.context_length = context_length
        self.horizon = horizon
        self.units = units

    def __len__(self) -> int:
        """Give the number of windows."""
        return len(self.index)

    def __getitem__(self, index: int) -> Batch:
        """Give one window, as a batch of one."""
        return self.__getitems__([index])

    def __getitems__(self, numbers: Sequence[int]) -> Batch:
        """Give the windows with these numbers as one batch, cut in one vectorised step."""
        series, origins = self.index.locate(np.asarray(numbers, dtype=np.int64))
        return cut_windows(
            self.panel,
            series=series,
            origins=origins,
            context_length=self.context_length,
            horizon=self.horizon,
            units=self.units,
            ends=self.index.ends,
        )


class ShuffledOrder(Sampler[int]):
    """Every number below `length` once, in an order that the seed and the epoch alone decide.

    A run that resumes in epoch 7 sees the order that an unbroken run sees there. Lightning calls `set_epoch`.
    """

    def __init__(self, length: int, *, seed: int):
        self.length = length
        self.seed = seed
        self.epoch = 0

    def __len__(self) -> int:
        """Give how many numbers an epoch has."""
        return self.length

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose order comes next."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        """Give the numbers in the order of the epoch."""
        # Hashed together: were they added, epoch 1 of seed 0 would repeat epoch 0 of seed 1.
        (state,) = np.random.SeedSequence([self.seed, self.epoch]).generate_state(1, np.uint64)
        order = torch.randperm(self.length, generator=torch.Generator().manual_seed(int(state) >> 1))
        for chunk in order.split(CHUNK):
            yield from chunk.tolist()


class WindowDataModule(pl.LightningDataModule):
    """The training, validation and test windows of a split panel, each given once an epoch; no batch is dropped.

    Units are those of the training part, for all three: one scale for all figures, and nothing held out shapes it.
    """

    def __init__(
        self,
        panel: Panel,
        parts: Parts,
        *,
        context_length: int,
        horizon: int,
        batch_size: int,
        seed: int,
        stride: int = 1,
        validation_stride: int = 1,
        units: Float64[np.ndarray, " series"] | None = None,
    ):
        """Lay out the windows; `stride` thins those that train, `validation_stride` those that validate.

        `units` is the spread of each series on its training part, as losses are to be measured in: that of the
        transformed panel for a model that transforms, and measured here where not given.

        Raises:
            SeriesTooShort: there is not one training window.
        """
        super().__init__()
        self.batch_size = batch_size
        self.seed = seed
        units = train_units(panel, parts.train_end) if units is None else units
        training = training_windows(panel, parts, context_length=context_length, horizon=horizon, stride=stride)
        validation = validation_windows(parts, horizon=horizon, stride=validation_stride)
        self.training, self.validation, self.test = (
            WindowDataset(panel, index, context_length=context_length, horizon=horizon, units=units)
            for index in (training, validation, test_windows(parts, horizon=horizon))
        )

    def train_dataloader(self) -> DataLoader[Batch]:
        """Give the training windows in a new order each epoch."""
        return self._loader(self.training, order=ShuffledOrder(len(self.training), seed=self.seed))

    def val_dataloader(self) -> list[DataLoader[Batch]]:
        """Give the validation windows in order of series and time; an empty list where there are none."""
        return [self._loader(self.validation)] if len(self.validation) else []

    def test_dataloader(self) -> list[DataLoader[Batch]]:
        """Give the test windows in order of series and time; an empty list where there are none."""
        return [self._loader(self.test)] if len(self.test) else []

    def _loader(self, dataset: WindowDataset, *, order: Sampler[int] | None = None) -> DataLoader[Batch]:
        # No worker processes: cutting a batch takes less time than sending it between processes.
        return DataLoader(dataset, batch_size=self.batch_size, sampler=order, collate_fn=_as_cut)  # ty: ignore[invalid-argument-type]


def _as_cut(batch: Batch) -> Batch:
    return batch
