"""Show our windows a second beside those of neuralforecast's and GluonTS's loaders, on the same 10^6 windows.

The peers live in an environment of their own, made on demand, so that nothing of theirs is pinned here. One process
each, one thread each, one after the other.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.scale_worker import BATCH_SIZE, CONTEXT_LENGTH, HORIZON
from benchmarks.shown import Shown, holds, report
from benchmarks.windows_at_scale import run_worker
from forecast.frames.panel_store import open_panel

ENVIRONMENT = Path(".venv") / "peers"
PINS = Path("requirements/constraints-py311.txt")
PEERS = {"neuralforecast": "neuralforecast==3.3.0", "gluonts": "gluonts==0.17.0"}
INSTALL_S = 20 * 60
MEASURE_S = 5 * 60

NUM_SERIES = 196  # of 5,720 steps: 1,002,148 windows
TIMES = 10


def show_peers() -> Iterator[Shown]:
    """Show one line a peer: how many times as many windows a second are cut here from all series at random."""
    with tempfile.TemporaryDirectory() as folder:
        store, series = Path(folder) / "store", Path(folder) / "series.npy"
        run_worker("write", str(store), str(NUM_SERIES))
        np.save(series, open_panel(store).values.reshape(NUM_SERIES, -1))
        for peer, requirement in PEERS.items():
            name = f"windows/s beside {requirement}, batches of {BATCH_SIZE} x {CONTEXT_LENGTH + HORIZON} steps"
            aim = f"at least {TIMES} times its own batches of mixed series"
            try:
                theirs = _measure_peer(peer, series)
            except (subprocess.SubprocessError, OSError) as failure:
                yield holds(name, f"{requirement} could not be run: {reason(failure)}", aim, met=None)
            else:
                yield _compare(name, aim, ours=run_worker("pass_over", str(store)), theirs=theirs)


def _compare(name: str, aim: str, *, ours: dict[str, Any], theirs: dict[str, float]) -> Shown:
    own = ours["num_windows"] / ours["seconds"]
    figure = (
        f"{own:,.0f} from all series at random; {theirs['mixed']:,.0f} as its models mix series by default "
        f"({own / theirs['mixed']:,.1f} times); {theirs['fastest']:,.0f} from one series a batch "
        f"({own / theirs['fastest']:,.1f} times)"
    )
    return holds(name, figure, aim, met=own >= TIMES * theirs["mixed"])


def _measure_peer(peer: str, series: Path) -> dict[str, float]:
    sizes = map(str, (CONTEXT_LENGTH, HORIZON, BATCH_SIZE))
    worker = Path(__file__).with_name("peer_worker.py")
    command = [str(_environment()), "-W", "ignore", str(worker), peer, str(series), *sizes]
    return json.loads(run(command, timeout_s=MEASURE_S).splitlines()[-1])


def _environment() -> Path:
    """Give the interpreter of the peers' environment, made and filled where it is not yet."""
    interpreter, ready = ENVIRONMENT / "bin" / "python", ENVIRONMENT / ".ready"
    if not ready.is_file():
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        index = ["--extra-index-url", os.environ["TORCH_INDEX"]] if os.environ.get("TORCH_INDEX") else []
        install = [str(interpreter), "-m", "pip", "install", "--quiet", "--constraint", str(PINS), *index]
        run([*install, *PEERS.values(), "torch"], timeout_s=INSTALL_S)
        ready.touch()
    return interpreter.absolute()


def run(command: list[str], *, timeout_s: int) -> str:
    """Run a command with one thread and give what it prints."""
    alone = os.environ | {"OMP_NUM_THREADS": "1", "DO_NOT_TRACK": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=timeout_s, env=alone).stdout


def reason(failure: Exception) -> str:
    """Give the last line that says why."""
    said = getattr(failure, "stderr", None) or str(failure)
    return (said if isinstance(said, str) else said.decode()).strip().splitlines()[-1]


if __name__ == "__main__":
    sys.exit(0 if report([show_peers]) else 1)
