"""Show windows over 10^8 places of a store on disk: index, memory, speed and order. QUICK=1 takes a tenth, and says so.

Memory is what the kernel counts as resident in a process that does nothing else, less what it was before the store was
opened (the interpreter and its libraries): anonymous memory, and the pages of the mapped files that were read.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.shown import Shown, at_most, holds, report

QUICK = os.environ.get("QUICK") == "1"
NUM_SERIES = 2_000 if QUICK else 20_000
SECONDS = 5 if QUICK else 20  # of cutting batches

NUM_WINDOWS = 10**8
INDEX_S = 1.0
SPARE_MB = 64
PART_MB = 256  # a part of 500 series, and what it takes to make it
GATHER_GB_S = 1.5


def show_windows() -> Iterator[Shown]:
    """Show the whole way from an opened store to batches in random order."""
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "store")
        written = run_worker("write", store, str(NUM_SERIES))
        found = run_worker("measure", store, str(SECONDS))
        yield from _show_size(written, found)
        yield from _show_memory(found)
        yield _show_speed(found)
        yield _show_order(run_worker("walk", store))


def run_worker(task: str, *given: str) -> dict[str, Any]:
    """Run a task of the worker in a fresh process and give what it found."""
    command = [sys.executable, "-m", "benchmarks.scale_worker", task, *given]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _show_size(written: dict[str, Any], found: dict[str, Any]) -> Iterator[Shown]:
    name = f"windows of {NUM_SERIES:,} series x 5,720 steps"
    figure, aim = f"{found['num_windows']:,}", f"at least {NUM_WINDOWS:,}"
    if QUICK:
        yield holds(name, f"{figure}, cut to a tenth by QUICK=1", aim, met=None)
    else:
        yield holds(name, figure, aim, met=found["num_windows"] >= NUM_WINDOWS)
    yield at_most("seconds to open the store", found["open_s"], INDEX_S, digits=2)
    yield at_most("seconds to lay out the windows", found["index_s"], INDEX_S, digits=2)
    name = f"MB of anonymous memory to write {found['data']:,.0f} MB part by part, in {written['seconds']:.0f} s"
    yield at_most(name, written["grown"], PART_MB)


def _show_memory(found: dict[str, Any]) -> Iterator[Shown]:
    before, laid_out, after = found["before"], found["laid_out"], found["after"]
    opened = laid_out["resident"] - before["resident"]
    yield at_most("MB resident once windows are laid out", opened, SPARE_MB)
    grown, own = (after[kind] - before[kind] for kind in ("resident", "anonymous"))
    name = f"MB resident after {found['num_batches']:,} random batches ({own:.0f} of them anonymous)"
    yield at_most(name, grown, found["data"] + SPARE_MB, digits=5)


def _show_speed(found: dict[str, Any]) -> Shown:
    aim = min(GATHER_GB_S, found["copy"] / 2)
    figure = f"{found['gather']:.2f} GB/s (mean {found['gather_mean']:.2f}) beside {found['copy']:.1f} GB/s of memcpy"
    name = f"random batches of 512 windows, fastest of {found['num_tries']} tries of 256"
    return holds(name, figure, f"at least {aim:.2f} GB/s", met=found["gather"] >= aim)


def _show_order(found: dict[str, Any]) -> Shown:
    figure = f"{found['num_windows']:,} windows, {'each once' if found['once'] else 'some not once'}"
    return holds("one epoch in random order", f"{figure}, in {found['seconds']:.0f} s", "each once", met=found["once"])


if __name__ == "__main__":
    sys.exit(0 if report([show_windows]) else 1)
