"""The data contract's table, tried: how many rows, how many inputs, and whether all came out right."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.shown import Shown, holds, report

ROOM = "tests/contract"
COUNTS = "LONGCAST_CONTRACT_COUNTS"
"""Names the file that the tests write their counts of inputs to, by row."""

TIMES = "LONGCAST_CONTRACT_TIMES"
"""By how much more inputs are drawn than in an ordinary run of the tests."""

QUICK = os.environ.get("QUICK") == "1"


def show_contract() -> Iterator[Shown]:
    """Show the tests of every row: by the Python face, the command line and HTTP, in pandas and polars alike."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts.json"
        command = [sys.executable, "-m", "pytest", "-q", ROOM]
        settings = os.environ | {COUNTS: str(file), TIMES: "1" if QUICK else "4"}
        ran = subprocess.run(command, capture_output=True, text=True, check=False, env=settings)
        counts: dict[str, int] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    rows, inputs = sum(bool(row) for row in counts), sum(counts.values())
    aim = "all right, pandas = polars"
    if (excepted := _count(ran.stdout, "xfailed")) > 0:
        aim += f", {excepted} known exceptions"
    figure = f"rows: {rows}, inputs: {inputs:,}{', a quarter of them by QUICK=1' if QUICK else ''}"
    if ran.returncode:
        figure += f", {_count(ran.stdout, 'failed')} tests failed"
    yield holds("data contract", figure, aim, met=ran.returncode == 0)


def _count(printed: str, what: str) -> int:
    """Read how many tests ended so off pytest's last line."""
    found = re.findall(rf"(\d+) {what}", printed)
    return int(found[-1]) if found else 0


if __name__ == "__main__":
    sys.exit(0 if report([show_contract]) else 1)
