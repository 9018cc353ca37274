"""The service as a process of its own: it answers over a socket, logs no value, and stops when it is told to."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import polars as pl
import pytest

from forecast.predictor import Predictor

SERVE = """
import sys
from api.main import serve
from api.settings import choose_settings
serve(choose_settings(artifact=sys.argv[1], port=int(sys.argv[2]), cpu_threads=1))
"""

START_S = 60
VALUE = 31.987654321


@dataclass
class Process:
    url: str
    running: subprocess.Popen[str]
    log: Path


@pytest.fixture(scope="module")
def process(artifact: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    log, port = tmp_path_factory.mktemp("served") / "log.jsonl", _free_port()
    with log.open("w") as lines:
        command = [sys.executable, "-c", SERVE, str(artifact), str(port)]
        running = subprocess.Popen(command, cwd=repository, stderr=lines, text=True)
    started = Process(f"http://127.0.0.1:{port}", running, log)
    try:
        _wait_until_ready(started)
        yield started
    finally:
        running.kill()
        running.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _wait_until_ready(process: Process) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and process.running.poll() is None:
        try:
            if httpx2.get(f"{process.url}/readyz").status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError(process.log.read_text())


@pytest.mark.e2e
def test_a_forecast_over_a_socket_is_the_librarys(
    process: Process, request_body: dict[str, Any], artifact: Path
) -> None:
    request_body["series"]["y"][0] = VALUE

    answer = httpx2.post(f"{process.url}/v1/forecasts", json=request_body, headers={"X-Request-Id": "mine"}).json()

    stamps = pl.Series(
        ["2026-11-01 00:00", "2026-11-01 01:00", "2026-11-01 02:00", "2026-11-01 03:00"]
    ).str.to_datetime()
    series = request_body["series"]
    frame = pl.DataFrame(
        {"unique_id": ["north"] * 4 + ["south"] * 3, "ds": pl.concat([stamps, stamps[1:]]), "y": series["y"]}
    )
    expected = Predictor.load(artifact).predict(frame, horizon=3, quantile_levels=[0.1, 0.5, 0.9])
    assert answer["series"]["mean"] == pytest.approx(expected["mean"].to_list(), rel=1e-5)
    assert answer["series"]["quantiles"]["0.9"] == pytest.approx(expected["0.9"].to_list(), rel=1e-5)


@pytest.mark.e2e
def test_a_body_in_pieces_is_refused_where_it_passes_the_limit(process: Process) -> None:
    pieces = (b" " * 1_000_000 for _ in range(60))

    answer = httpx2.post(f"{process.url}/v1/forecasts", content=pieces, headers={"Content-Type": "application/json"})

    assert answer.status_code == 413
    assert httpx2.get(f"{process.url}/livez").status_code == 200


@pytest.mark.e2e
def test_every_line_of_the_log_is_json_and_none_holds_a_value(process: Process) -> None:
    lines = [json.loads(line) for line in process.log.read_text().splitlines()]

    (forecast,) = [line for line in lines if line.get("request_id") == "mine"]
    assert {"num_series", "num_points", "horizon", "queue_ms", "inference_ms", "ms", "model_version"} <= set(forecast)
    assert str(VALUE) not in process.log.read_text()
    assert any("no authentication" in line["event"] for line in lines)


@pytest.mark.e2e
def test_the_process_ends_in_peace_when_it_is_told_to(process: Process) -> None:
    process.running.send_signal(signal.SIGTERM)

    assert process.running.wait(timeout=20) in (0, -signal.SIGTERM)


@pytest.mark.e2e
def test_the_process_holds_no_training_stack_after_a_forecast(artifact: Path, repository: Path) -> None:
    code = """
import asyncio, json, sys, httpx2
from api.app import create_app
from api.settings import Settings

async def main():
    app = create_app(Settings(artifact=sys.argv[1], cpu_threads=1))
    async with app.router.lifespan_context(app), httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app), base_url="http://service"
    ) as client:
        while (await client.get("/readyz")).status_code != 200:
            await asyncio.sleep(0.05)
        series = {"unique_id": ["a"], "sizes": [3], "start": ["2026-11-01"], "y": [1, 2, 3]}
        answer = await client.post("/v1/forecasts", json={"series": series})
        assert answer.status_code == 200, answer.text

asyncio.run(main())
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), file=sys.stderr)
"""
    command = [sys.executable, "-c", code, str(artifact)]
    done = subprocess.run(
        command, cwd=repository, capture_output=True, text=True, timeout=60, check=True, env=os.environ
    )

    loaded = set(json.loads(done.stderr.splitlines()[-1]))
    assert "torch" in loaded
    assert not {"lightning", "pytorch_lightning", "matplotlib", "ray", "mlflow"} & loaded
