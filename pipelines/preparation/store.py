"""Preparation through the disk: for data that are larger than memory, one part of the series after the other."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import PositiveInt

from forecast.config import config
from forecast.frames.contract import Prepared
from pipelines.preparation.base import Order, PreparationContract
from pipelines.preparation.in_parts import prepare_in_parts
from pipelines.preparation.task import Runner, run_here


@config
class InStore(PreparationContract):
    """Parts of the series one after the other, in this process; the panel is mapped from the disk."""

    kind: Literal["store"] = "store"

    folder: Path
    """Where the panel is stored; what stands there is replaced by each run. Its parent needs room for the rows too."""

    num_partitions: PositiveInt = 16
    """Parts of about as many rows each; memory holds one of them, so give more where there is little."""

    def prepare(self, order: Order) -> Prepared:
        return prepare_in_parts(order, folder=self.folder, num_partitions=self.num_partitions, run=run_here)

    @contextmanager
    def runner(self) -> Generator[Runner]:
        """Give what does the tasks of the parts."""
        yield run_here
