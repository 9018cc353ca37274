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
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from forecast.errors import LongcastError
from longcast.hints import program

READY_TIMEOUT_S = 120  # importing torch and loading the model takes 5 to 20 s on a busy laptop
POLL_S = 0.2
ANSWER_TIMEOUT_S = 30


class LocalService:
    """`longcast serve` in a process of its own, on a free port of this machine. Leaves nothing behind."""

    def __init__(self, config: Path, *, overrides: Sequence[str] = ()):
        self._config = config
        self._overrides = overrides
        self.url = f"http://127.0.0.1:{_free_port()}"

    def __enter__(self) -> Self:
        """Start it and wait until it is ready.

        Raises:
            LongcastError: it ended, or took too long.
        """
        self._cache = (
            tempfile.TemporaryDirectory()
        )  # the service keeps models that it fetches: here, as long as it runs
        self._process = subprocess.Popen(
            self._command(),
            env={**os.environ, "LONGCAST_CACHE_DIR": self._cache.name},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            self._wait_until_ready()
        except BaseException:  # whatever goes wrong here, Ctrl-C included, no process stays behind
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop it."""
        self._process.terminate()
        self._process.wait(timeout=READY_TIMEOUT_S)
        self._cache.cleanup()

    def ask(self, path: str, question: dict[str, Any] | None = None) -> Any:
        """Give the answer to a GET, or to a POST where there is a question, as JSON."""
        body = None if question is None else json.dumps(question).encode()
        request = urllib.request.Request(self.url + path, data=body, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=ANSWER_TIMEOUT_S) as answer:
            return json.load(answer)

    def _command(self) -> list[str]:
        return [sys.executable, "-m", "longcast.cli", *self._arguments()]

    def _arguments(self) -> list[str]:
        overrides = [part for override in self._overrides for part in ("--set", override)]
        return ["serve", str(self._config), "--port", self.url.rpartition(":")[2], *overrides]

    def _by_hand(self) -> str:
        return f"to see why, type: {shlex.join([program('longcast'), *self._arguments()])}"

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise LongcastError(f"the service ended with status {self._process.returncode}; {self._by_hand()}")
            try:
                self.ask("/readyz")
            except (urllib.error.URLError, ConnectionError):
                time.sleep(POLL_S)
            else:
                return
        raise LongcastError(f"the service was not ready within {READY_TIMEOUT_S} s; {self._by_hand()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
