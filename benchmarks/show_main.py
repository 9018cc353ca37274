"""Show what the main job promises: one line an item. QUICK=1 leaves the sine task and most tests out, and says so."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.accuracy import SINE_AIM, show_etth1, show_sine
from benchmarks.attention_exactness import show_attention
from benchmarks.registry_page import show_registry
from benchmarks.shown import Shown, at_most, below, holds, report
from longcast.demo import run_demo
from pipelines.flows.score import MODEL

DEMO_SECONDS = 6 * 60
TEST_SECONDS = 10 * 60
QUICK = os.environ.get("QUICK") == "1"
LAWS = ("tests/forecast/model/test_laws.py", "tests/pipelines/flows")
"""What QUICK=1 runs of the tests: the laws of the models and of whole flows."""


def show_demo() -> Iterator[Shown]:
    """Show the demo: time, accuracy against the naive forecasts, HTTP against the library, the page in MLflow."""
    with tempfile.TemporaryDirectory() as folder:
        done = run_demo(Path("configs/demo.yaml"), overrides=[f"output={folder}"])
        yield at_most("demo seconds", done.seconds, DEMO_SECONDS, digits=4)
        scores = done.trained.result
        for metric in ("mase", "wql"):
            for rival in ("last_value", "seasonal_naive"):
                own, other = scores[MODEL].overall()[metric], scores[rival].overall()[metric]
                yield below(f"demo {metric}, {scores.num_windows:,} windows", own, other, of=rival)
        yield at_most("demo HTTP against library, relative", done.difference, 1e-5, digits=2)
        yield from show_registry(done.uri, done.trained.version.name)


def show_tests() -> Iterator[Shown]:
    """Show how many tests pass and how long they take; with QUICK=1 the laws alone."""
    started = time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", *(LAWS if QUICK else ())]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    summary = re.findall(r"\d+ (?:passed|failed|skipped|error)[^=]*", ran.stdout)[-1:] or [ran.stdout[-200:]]
    yield holds("tests", summary[0].strip(), "all pass", met=ran.returncode == 0)
    yield at_most("tests seconds", seconds, TEST_SECONDS, digits=4)


def show_accuracy() -> Iterator[Shown]:
    """Show the two accuracy tasks; with QUICK=1 the sine task is left out, because a shorter one shows nothing."""
    if QUICK:
        yield holds("sine free-running test MSE", "left out by QUICK=1", f"at most {SINE_AIM:g}", met=None)
    else:
        yield from show_sine()
    yield from show_etth1()


def main() -> int:
    """Show everything and give the exit status: 0 where nothing was missed."""
    return 0 if report([show_attention, show_demo, show_accuracy, show_tests]) else 1


if __name__ == "__main__":
    sys.exit(main())
