"""Show what the attention floor promises: one line an item. QUICK=1 gives smaller forms, each of which says so."""

import re
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.alibi import show_alibi
from benchmarks.attention_lengths import show_lengths
from benchmarks.attention_patterns import show_patterns
from benchmarks.checkpointing import show_checkpointing
from benchmarks.decoding import show_decoding
from benchmarks.extrapolation import show_extrapolation
from benchmarks.linear_attention import show_linear
from benchmarks.shown import Shown, holds, report

CONTRACT = ("tests/forecast/attention", "tests/forecast/position", "tests/forecast/model/test_laws.py")


def show_contract() -> Iterator[Shown]:
    """Show that every pattern, position and kernel that is listed keeps the contract."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", *CONTRACT]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    summary = re.findall(r"\d+ (?:passed|failed|skipped|error)[^=]*", ran.stdout)[-1:] or [ran.stdout[-200:]]
    name = "contract of attention: every pattern, bias, position and kernel of this machine against the reference"
    yield holds(name, summary[0].strip(), "all pass", met=ran.returncode == 0)


PARTS = (
    show_contract,
    show_lengths,
    show_patterns,
    show_alibi,
    show_linear,
    show_checkpointing,
    show_decoding,
    show_extrapolation,
)


def main() -> int:
    """Show everything and give the exit status: 0 where nothing was missed."""
    return 0 if report(PARTS) else 1


if __name__ == "__main__":
    sys.exit(main())
