"""A service of this machine's own: started as users start it, asked over HTTP, and ended when it is left."""

import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forecast.errors import LongcastError
from longcast.hints import program

READY_TIMEOUT_S = 120  # importing torch and loading the model takes 5 to 20 s on a busy laptop
POLL_S = 0.2
ANSWER_TIMEOUT_S = 30


@dataclass(frozen=True)
class LocalService:
    """A running service."""

    url: str

    def ask(self, path: str, question: dict[str, Any] | None = None) -> Any:
        """Give the answer to a GET, or to a POST where there is a question, as JSON."""
        body = None if question is None else json.dumps(question).encode()
        request = urllib.request.Request(self.url + path, data=body, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=ANSWER_TIMEOUT_S) as answer:
            return json.load(answer)


@contextmanager
def local_service(config: Path, *, overrides: Sequence[str] = ()) -> Generator[LocalService]:
    """Run `longcast serve` in a process of its own, on a free port of this machine. Leaves nothing behind.

    Raises:
        LongcastError: it ended, or took too long, before it was ready.
    """
    port = _free_port()
    arguments = ["serve", str(config), "--port", str(port)]
    arguments += [part for override in overrides for part in ("--set", override)]
    with tempfile.TemporaryDirectory() as cache:  # for the models that the service fetches, as long as it runs
        process = subprocess.Popen(
            [sys.executable, "-m", "longcast.cli", *arguments],
            env={**os.environ, "LONGCAST_CACHE_DIR": cache},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            service = LocalService(f"http://127.0.0.1:{port}")
            _wait_until_ready(service, process, by_hand=shlex.join([program("longcast"), *arguments]))
            yield service
        finally:
            _stop(process)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Ask the service to end, and end it if it does not."""
    process.terminate()
    try:
        process.wait(timeout=READY_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait_until_ready(service: LocalService, process: "subprocess.Popen[bytes]", *, by_hand: str) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise LongcastError(f"the service ended with status {process.returncode}; to see why, type: {by_hand}")
        try:
            service.ask("/readyz")
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(POLL_S)
        else:
            return
    raise LongcastError(f"the service was not ready within {READY_TIMEOUT_S} s; to see why, type: {by_hand}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
