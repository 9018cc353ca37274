"""Windows as Lightning wants them: data sets that gather a whole batch in one step, and loaders with a seeded order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import lightning.pytorch as pl
import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch.utils.data import DataLoader, Dataset, Sampler

from forecast.batch import Batch, cut_windows
from forecast.frames.panel import Panel
from forecast.gather import Gather, gather_on_host
from pipelines.buckets import Bucket, make_buckets
from pipelines.device_columns import choose_gather
from pipelines.permutation import Permutation
from pipelines.split import Parts, train_units
from pipelines.windows import test_windows, training_windows, validation_windows

CHUNK = 4096  # batches whose order is worked out at one time
CPU = torch.device("cpu")


@dataclass(frozen=True, eq=False)
class Chosen:
    """The windows of one batch."""

    bucket: Bucket
    numbers: Int64[np.ndarray, " batch"]
    """In the index of the bucket."""


class WindowDataset(Dataset[Batch]):
    """The windows of one part; a loader asks for the windows of a batch together and gets the batch."""

    def __init__(
        self,
        panel: Panel,
        buckets: Sequence[Bucket],
        *,
        horizon: int,
        units: Float64[np.ndarray, " series"],
        gather: Gather = gather_on_host,
    ):
        self.panel = panel
        self.buckets = buckets
        self.horizon = horizon
        self.units = units
        self.gather = gather

    def __len__(self) -> int:
        """Give the number of windows."""
        return sum(len(bucket.index) for bucket in self.buckets)

    def __getitem__(self, index: Chosen) -> Batch:
        """Give the windows of a batch, cut in one vectorised step."""
        bucket = index.bucket
        series, origins = bucket.index.locate(index.numbers)
        return cut_windows(
            self.panel,
            series=series,
            origins=origins,
            context_length=bucket.context_length,
            horizon=self.horizon,
            units=self.units,
            ends=bucket.index.ends,
            gather=self.gather,
        )


class Batches(Sampler[Chosen]):
    """Every batch of every bucket once, in order."""

    def __init__(self, buckets: Sequence[Bucket]):
        self.buckets = buckets

    def __len__(self) -> int:
        """Give the number of batches."""
        return sum(map(len, self.buckets))

    def __iter__(self) -> Iterator[Chosen]:
        """Give the batches, bucket after bucket."""
        for bucket in self.buckets:
            for number in range(len(bucket)):
                yield Chosen(bucket, bucket.windows(bucket.origins(number)))


class ShuffledBatches(Sampler[Chosen]):
    """Every window of every bucket once, in an order that the seed and the epoch alone decide.

    A run that resumes in epoch 7 sees the order that an unbroken run sees there. Lightning calls `set_epoch`. The order
    is computed as it is needed: its memory does not grow with the number of windows.
    """

    def __init__(self, buckets: Sequence[Bucket], *, seed: int):
        self.buckets = buckets
        self.seed = seed
        self.epoch = 0
        self._bounds = np.concatenate([[0], np.cumsum([len(bucket) for bucket in buckets])]).astype(np.int64)

    def __len__(self) -> int:
        """Give the number of batches."""
        return int(self._bounds[-1])

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose order comes next."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[Chosen]:
        """Give the batches of all buckets mixed, each with windows from anywhere in its bucket."""
        batches = Permutation(len(self), seeds=[self.seed, self.epoch])
        inside = [
            Permutation(bucket.num_origins, seeds=[self.seed, self.epoch, place])
            for place, bucket in enumerate(self.buckets, start=1)
        ]
        for start in range(0, len(self), CHUNK):
            for number in batches.at(np.arange(start, min(start + CHUNK, len(self)))):
                place = int(np.searchsorted(self._bounds, number, side="right")) - 1
                bucket = self.buckets[place]
                origins = bucket.origins(int(number - self._bounds[place]))
                yield Chosen(bucket, bucket.windows(inside[place].at(origins)))


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
        buckets: tuple[int, ...] = (),
        device: torch.device = CPU,
        units: Float64[np.ndarray, " series"] | None = None,
    ):
        """Lay out the windows; `stride` thins those that train, `validation_stride` those that validate.

        `buckets` are contexts below `context_length` at which windows with a shorter past are cut; `device` is the one
        that trains, on which the panel is kept if it fits. `units` is the spread of each series on its training part,
        as losses are measured in: a model that transforms gives that of the transformed panel; measured here otherwise.

        Raises:
            SeriesTooShort: there is not one training window.
            ConfigError: the buckets do not rise, or reach `context_length`.
        """
        super().__init__()
        self.seed = seed
        units = train_units(panel, parts.train_end) if units is None else units
        gather = choose_gather(panel, device=device)
        training = training_windows(panel, parts, context_length=context_length, horizon=horizon, stride=stride)
        validation = validation_windows(parts, horizon=horizon, stride=validation_stride)
        self.training, self.validation, self.test = (
            WindowDataset(
                panel,
                make_buckets(
                    index, bounds=buckets, context_length=context_length, horizon=horizon, batch_size=batch_size
                ),
                horizon=horizon,
                units=units,
                gather=gather,
            )
            for index in (training, validation, test_windows(parts, horizon=horizon))
        )

    def train_dataloader(self) -> DataLoader[Batch]:
        """Give the training windows in a new order each epoch."""
        return _loader(self.training, ShuffledBatches(self.training.buckets, seed=self.seed))

    def val_dataloader(self) -> list[DataLoader[Batch]]:
        """Give the validation windows in order of series and time, or of bucket; an empty list where there are none."""
        return [_loader(self.validation, Batches(self.validation.buckets))] if len(self.validation) else []

    def test_dataloader(self) -> list[DataLoader[Batch]]:
        """Give the test windows in order of series and time, or of bucket; an empty list where there are none."""
        return [_loader(self.test, Batches(self.test.buckets))] if len(self.test) else []


def _loader(dataset: WindowDataset, batches: Sampler[Chosen]) -> DataLoader[Batch]:
    # No worker processes: cutting a batch takes less time than sending it between processes.
    return DataLoader(dataset, batch_size=None, sampler=batches)
