"""A Ray cluster that does tasks side by side; the only file that knows Ray."""

import logging
import os
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from pydantic import PositiveInt

from forecast.config import config
from forecast.errors import BackendUnavailable
from forecast.quiet import quiet_loggers

CHATTY = ("ray", "ray.data", "ray.worker")
"""Loggers that tell every step."""

Work = Callable[[Any], Any]


@config
class Cluster:
    """Which cluster, and how much of it."""

    address: str | None = None
    """Of a cluster that runs already, for example `ray://head:10001`; None starts one on this machine for the run."""

    num_cpus: PositiveInt = 2
    """Tasks that run side by side."""

    @contextmanager
    def runner(self) -> Generator[Callable[[Work, Sequence[Any]], list[Any]]]:
        """Give a function that does the same work on several tasks and gives the results in their order.

        A cluster that is started here is stopped at the end.

        Raises:
            BackendUnavailable: Ray is not installed.
        """
        ray = _ray()
        was_running = ray.is_initialized()
        if not was_running:
            _start(ray, self)
        try:
            yield lambda work, tasks: _run(ray, work, tasks, at_once=self.num_cpus)
        finally:
            if not was_running:
                with _quiet():
                    ray.shutdown()


def _ray() -> ModuleType:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    try:
        import ray
        import ray.data
    except ImportError:
        raise BackendUnavailable("a Ray cluster needs the package ray; type: pip install 'longcast[scale]'") from None
    return ray


@contextmanager
def _quiet() -> Generator[None]:
    with quiet_loggers(CHATTY, level=logging.ERROR), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray warns of its own future defaults
        yield


def _start(ray: ModuleType, cluster: Cluster) -> None:
    where = {"address": cluster.address}
    if cluster.address is None:
        where = {"address": "local", "num_cpus": cluster.num_cpus, "include_dashboard": False}
    with _quiet():
        ray.init(**where, configure_logging=False, log_to_driver=False)


def _run(ray: ModuleType, work: Work, tasks: Sequence[Any], *, at_once: int) -> list[Any]:
    """Do the tasks on Ray Data, each in a block of its own."""
    if not tasks:
        return []
    with _quiet():
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        rows = ray.data.from_items([{"task": task} for task in tasks], override_num_blocks=len(tasks))
        done = rows.map(_Row(work), num_cpus=1, concurrency=at_once)
        return [row["result"] for row in done.take_all()]


@dataclass(frozen=True)
class _Row:
    """The work as Ray Data does it: from a row that holds a task to a row that holds its result."""

    work: Work

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        return {"result": self.work(row["task"])}
