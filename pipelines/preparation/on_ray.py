"""Preparation on a Ray cluster: the parts of the series side by side, on one machine or on many."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import PositiveInt

from forecast.config import config
from forecast.frames.contract import Prepared
from pipelines.preparation.base import Order, PreparationContract
from pipelines.preparation.in_parts import prepare_in_parts
from pipelines.preparation.task import Runner
from pipelines.scale.cluster import Cluster


@config
class OnRay(PreparationContract):
    """Parts of the series on Ray Data, each by the code that `store` runs; this process reads and joins."""

    kind: Literal["ray"] = "ray"

    folder: Path
    """Where the panel is stored; what stands there is replaced by each run. All machines must see its parent."""

    num_partitions: PositiveInt = 16
    """Parts of about as many rows each; a worker holds one of them at a time."""

    cluster: Cluster = Cluster()

    def prepare(self, order: Order) -> Prepared:
        with self.runner() as run:
            return prepare_in_parts(order, folder=self.folder, num_partitions=self.num_partitions, run=run)

    @contextmanager
    def runner(self) -> Generator[Runner]:
        """Give what does the tasks of the parts; the cluster lasts as long as the block.

        Raises:
            BackendUnavailable: Ray is not installed.
        """
        with self.cluster.runner() as run:
            yield run
