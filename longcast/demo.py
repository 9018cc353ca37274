"""The demo: the whole main job on the embedded series, from file to a forecast fetched over HTTP."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from forecast.config import load_config
from forecast.errors import LongcastError
from forecast.frames.panel import Panel
from forecast.predictor import Predictor
from pipelines.config import RunConfig
from pipelines.flows.train import Trained, train

READY_TIMEOUT_S = 120
CLOSE = 1e-5  # relative: how near the two ways to the same forecast must be


def run(config_file: Path, *, overrides: Sequence[str]) -> None:
    """Train on the embedded series, then serve the champion and compare its answer with the library's.

    Raises:
        LongcastError: the model was not promoted, or the service does not answer as the library does.
    """
    started = time.monotonic()
    config = load_config(RunConfig, config_file, overrides=overrides)
    print(config.source.describe())
    trained = train(config, progress=sys.stderr.isatty())
    print(trained.prepared.report)
    print(trained.result)
    verdict = "promoted to champion" if trained.decision.passed else "not promoted"
    print(f"{trained.version.reference} {verdict}: {'; '.join(trained.decision.reasons)}")
    if not trained.decision.passed:
        raise LongcastError(
            "the demo's model is not better than the seasonal naive forecast; its service has no champion"
        )
    with _service(config_file, overrides) as url:
        difference = _compare(url, trained)
    print(f"forecast over HTTP equals the library's: largest relative difference {difference:.1e}")
    print(f"run folder {trained.folder}")
    print(f"compare runs: .venv/bin/mlflow ui --backend-store-uri {config.tracking_uri}")
    print(f"serve it: .venv/bin/longcast serve {config_file}")
    print(f"demo finished in {time.monotonic() - started:.0f} s")


def _compare(url: str, trained: Trained) -> float:
    """Ask the service and the library for the same forecast, and give the largest relative difference."""
    panel = trained.prepared.panel.select([0])
    own = Predictor(trained.artifact).predict_panel(panel)
    answer = _fetch(f"{url}/v1/forecasts", _question(panel, num_steps=trained.artifact.card.context_length))
    if answer["model"]["version"] != str(trained.version.version):
        raise LongcastError(
            f"the service answers with version {answer['model']['version']}, not the champion just made"
        )
    served = np.array([answer["series"]["mean"], *answer["series"]["quantiles"].values()])
    expected = np.vstack([own.mean, own.quantiles[0].T])
    difference = float(np.max(np.abs(served - expected) / np.abs(expected)))
    if difference > CLOSE:
        raise LongcastError(f"the service's forecast is {difference:.1e} away from the library's")
    return difference


def _question(panel: Panel, *, num_steps: int) -> dict[str, Any]:
    """Write the newest steps of a panel's first series as a request."""
    first = max(0, int(panel.lengths[0]) - num_steps)
    (start,) = panel.axis.stamps(0, first=first, count=1).to_list()
    pairs = zip(panel.values[first:].tolist(), panel.observed[first:].tolist(), strict=True)
    values = [value if observed else None for value, observed in pairs]
    columns = {"unique_id": [str(panel.ids[0])], "sizes": [len(values)], "start": [start.isoformat()], "y": values}
    return {"freq": panel.axis.frequency.text, "series": columns}


@contextmanager
def _service(config_file: Path, overrides: Sequence[str]) -> Generator[str]:
    """Start `longcast serve` as users do, on a free port, and stop it afterwards."""
    port = _free_port()
    command = [sys.executable, "-m", "longcast.cli", "serve", str(config_file), "--port", str(port)]
    command += [part for override in overrides for part in ("--set", override)]
    service = subprocess.Popen(command, env=os.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(url, service)
        yield url
    finally:
        service.terminate()
        service.wait(timeout=READY_TIMEOUT_S)


def _wait_until_ready(url: str, service: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        if service.poll() is not None:
            raise LongcastError(
                f"the service ended with status {service.returncode}; run `longcast serve` by hand to see why"
            )
        try:
            _fetch(f"{url}/readyz")
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
        else:
            return
    raise LongcastError(
        f"the service was not ready within {READY_TIMEOUT_S} s; run `longcast serve` by hand to see why"
    )


def _fetch(url: str, question: dict[str, Any] | None = None) -> Any:
    body = None if question is None else json.dumps(question).encode()
    request = urllib.request.Request(url, data=body, headers={"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=READY_TIMEOUT_S) as answer:
        return json.load(answer)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
