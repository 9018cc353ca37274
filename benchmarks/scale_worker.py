"""What runs in a process of its own, so that its memory is its own: writes a store, cuts windows, walks an order."""

import json
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
import psutil
from torch.utils.data import DataLoader

from forecast.batch import Batch
from forecast.frames.calendar.base import Origins
from forecast.frames.column_type import ColumnType
from forecast.frames.frequency import Frequency
from forecast.frames.panel import Panel
from forecast.frames.panel_store import open_panel
from forecast.frames.panel_writer import PanelWriter
from forecast.frames.time import StampType, TimeAxis
from pipelines.buckets import Bucket, make_buckets
from pipelines.datamodule import ShuffledBatches, WindowDataset
from pipelines.split import FractionSplit
from pipelines.windows import training_windows

CONTEXT_LENGTH, HORIZON, BATCH_SIZE = 512, 96, 512
NUM_STEPS = 5_720
A_PART = 500  # series made at a time
A_TRY = 256  # batches timed together
WATCH_S = 0.01
COPIED_MB, COPIES = 256, 8  # large enough that no cache holds it
MB = 2**20


def write(folder: str, num_series: str) -> dict[str, Any]:
    """Make hourly series part by part and write them to one store."""
    before, start = _memory(), time.perf_counter()
    with watched() as highest, PanelWriter(folder) as writer:
        for first in range(0, int(num_series), A_PART):
            writer.append(_make_part(first, min(A_PART, int(num_series) - first)))
    return {"seconds": time.perf_counter() - start, "grown": max(highest) - before["anonymous"]}


def measure(folder: str, seconds: str) -> dict[str, Any]:
    """Open a store, lay out its windows, and cut random batches for some seconds."""
    before = _memory()
    start = time.perf_counter()
    panel = open_panel(folder)
    opened = time.perf_counter()
    bucket = _lay_out(panel)
    order = ShuffledBatches([bucket], seed=1)
    built = time.perf_counter()
    dataset = WindowDataset(panel, [bucket], horizon=HORIZON, units=np.ones(len(panel)))
    loader = DataLoader(dataset, batch_size=None, sampler=order)
    laid_out = _memory()
    tries = _cut(iter(loader), seconds=float(seconds))
    after = _memory()
    return {
        "num_windows": len(dataset),
        "data": sum(column.nbytes for column in (panel.values, panel.observed)) / MB,
        "open_s": opened - start,
        "index_s": built - opened,
        "before": before,
        "laid_out": laid_out,
        "after": after,
        "gather": max(num_bytes / spent for num_bytes, spent in tries) / 1e9,
        "gather_mean": sum(num_bytes for num_bytes, _ in tries) / sum(spent for _, spent in tries) / 1e9,
        "num_tries": len(tries),
        "num_batches": len(tries) * A_TRY,
        "copy": _copy_speed(),
    }


def walk(folder: str) -> dict[str, Any]:
    """Walk the order of a whole epoch and count how often each window comes."""
    bucket = _lay_out(open_panel(folder))
    seen = np.zeros(len(bucket.index), dtype=np.uint8)
    start = time.perf_counter()
    for chosen in ShuffledBatches([bucket], seed=1):
        seen[chosen.numbers] += 1
    return {
        "num_windows": len(seen),
        "once": bool((seen == 1).all()),
        "seconds": time.perf_counter() - start,
    }


def pass_over(folder: str) -> dict[str, Any]:
    """Cut every window of a store once, in random order."""
    panel = open_panel(folder)
    bucket = _lay_out(panel)
    dataset = WindowDataset(panel, [bucket], horizon=HORIZON, units=np.ones(len(panel)))
    start, count = time.perf_counter(), 0
    for batch in DataLoader(dataset, batch_size=None, sampler=ShuffledBatches([bucket], seed=1)):
        count += len(batch.past)
    return {"num_windows": count, "seconds": time.perf_counter() - start}


def _lay_out(panel: Panel) -> Bucket:
    parts = FractionSplit(train=1, validation=0).cut(panel)
    index = training_windows(panel, parts, context_length=CONTEXT_LENGTH, horizon=HORIZON)
    (bucket,) = make_buckets(index, bounds=(), context_length=CONTEXT_LENGTH, horizon=HORIZON, batch_size=BATCH_SIZE)
    return bucket


def _make_part(first: int, count: int) -> Panel:
    """Daily waves of random height and phase, with noise; one step in a hundred is unobserved."""
    random = np.random.default_rng(first)
    phases, heights = random.random((2, count, 1))
    values = heights * np.sin(2 * np.pi * (np.arange(NUM_STEPS) / 24 + phases)) + random.normal(size=(count, NUM_STEPS))
    observed = random.random(values.size) >= 0.01
    zeros = np.zeros(count, dtype=np.int64)
    hours = StampType(ColumnType(pl.Datetime("us")), pl.Datetime("us"))
    return Panel(
        ids=tuple(f"s{number}" for number in range(first, first + count)),
        values=np.where(observed, values.ravel(), 0.0),
        observed=observed,
        offsets=np.arange(count + 1, dtype=np.int64) * NUM_STEPS,
        axis=TimeAxis(Frequency.parse("h"), hours, Origins(zeros, zeros, zeros)),
    )


def _cut(batches: Iterator[Batch], *, seconds: float) -> list[tuple[int, float]]:
    """Cut batches for so long; give the bytes delivered in each try and the seconds that it took."""
    tries, start = [], time.perf_counter()
    while (began := time.perf_counter()) - start < seconds:
        num_bytes = 0
        for batch in islice(batches, A_TRY):
            parts = (batch.past, batch.past_observed, batch.future, batch.future_observed)
            num_bytes += sum(part.nbytes for part in parts)
        tries.append((num_bytes, time.perf_counter() - began))
    return tries


def _copy_speed() -> float:
    """Give how fast this machine copies memory, in GB/s of what is copied: the fastest of several tries."""
    source, target = np.ones(COPIED_MB * MB, dtype=np.uint8), np.empty(COPIED_MB * MB, dtype=np.uint8)
    spent = []
    for _ in range(COPIES):
        start = time.perf_counter()
        np.copyto(target, source)
        spent.append(time.perf_counter() - start)
    return source.nbytes / min(spent[1:]) / 1e9


@contextmanager
def watched() -> Generator[list[float]]:
    """Watch the anonymous memory while the block runs."""
    seen, done = [_memory()["anonymous"]], threading.Event()

    def watch() -> None:
        while not done.wait(WATCH_S):
            seen.append(_memory()["anonymous"])

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        done.set()
        watcher.join()


def _memory() -> dict[str, float]:
    """Give what the kernel counts as resident, in MB: all of it, and the anonymous part, which no file backs."""
    found = psutil.Process().memory_info()
    return {"resident": found.rss / MB, "anonymous": (found.rss - found.shared) / MB}


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "write": write,
    "measure": measure,
    "walk": walk,
    "pass_over": pass_over,
}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
