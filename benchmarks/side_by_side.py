"""Time and memory of variants side by side: times taken in turns, memory each in a process of its own."""

import gc
import json
import math
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
NUM_THREADS = 2
KB_PER_MB = 1024


@dataclass(frozen=True)
class Timing:
    """The best of all rounds; wall clock and CPU time each on their own."""

    wall_s: float
    cpu_s: float
    """Of all threads together."""


def race(variants: Mapping[str, Callable[[], object]], *, rounds: int = 5) -> dict[str, Timing]:
    """Time each variant once a round, in turns, so that a busy moment of the machine falls on all of them.

    One more round goes before and is not counted: first calls allocate and fill caches.
    """
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in variants}
    with threads(NUM_THREADS):
        for _ in range(rounds + 1):
            for name, variant in variants.items():
                spent[name].append(_time(variant))
    return {name: Timing(*map(min, zip(*tries[1:], strict=True))) for name, tries in spent.items()}


def rise(call: Callable[[], object]) -> float:
    """Give by how many MB the peak of this process's resident memory rises while the call runs (Linux alone).

    For a fresh process: memory that an earlier call gave back may still be held and would hide a part of the rise.
    """
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew at what is resident now
    before = _peak_kb()
    with threads(NUM_THREADS):
        result = call()
    after = _peak_kb()
    del result
    return (after - before) / KB_PER_MB


def peak_mb(module: str, task: str, *given: object) -> float:
    """Run `python -m module task given...` in a fresh process and give the MB that it prints on its last line.

    Raises:
        RuntimeError: the process failed; carries what it said.
    """
    command = [sys.executable, "-m", module, task, *map(str, given)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if ran.returncode:
        raise RuntimeError(f"`{' '.join(command[1:])}` failed with status {ran.returncode}: {ran.stderr[-2000:]}")
    return float(ran.stdout.splitlines()[-1])


def growth(figures: Mapping[int, float]) -> float:
    """Give the slope of log figure over log size by least squares: 1 where it grows linearly, 2 quadratically."""
    sizes, values = ([math.log(number) for number in some] for some in (figures.keys(), figures.values()))
    middle, mean = sum(sizes) / len(sizes), sum(values) / len(values)
    joint = sum((size - middle) * (value - mean) for size, value in zip(sizes, values, strict=True))
    return joint / sum((size - middle) ** 2 for size in sizes)


def table(rows: Sequence[Sequence[object]]) -> str:
    """Lay rows out in columns; floats get three digits."""
    cells = [[f"{cell:.3g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in cells)


def write(name: str, figures: Mapping[str, Any]) -> Path:
    """Keep figures as benchmarks/results/<name>.json."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(figures, indent=2) + "\n")
    return path


@contextmanager
def threads(number: int) -> Generator[None]:
    """Let torch use so many threads while the block runs."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _time(variant: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    result = variant()
    spent = time.perf_counter() - wall, time.process_time() - cpu
    del result  # freeing what the variant gives is not part of it
    return spent


def _peak_kb() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
