"""Opening a tracking store to write to: made once, whole, however many processes begin together."""

import logging
import os
from pathlib import Path

import mlflow
from filelock import FileLock, Timeout

from forecast.errors import RegistryError
from forecast.quiet import quiet_loggers
from forecast.store import SQLITE, sqlite_file

WAIT_S = 120  # MLflow makes a store in 3 to 10 s; a crowded machine may take several times as long
ARTIFACTS = "artifacts"
"""The folder of pictures, tables and models, beside an SQLite store."""

CHATTY = ("alembic", "mlflow.store.db.utils")
"""Loggers that tell every step of making a store."""


def ensure_store(uri: str) -> None:
    """Make the SQLite store at the address if there is none; other addresses name services that keep their own.

    MLflow breaks a new file for good when two processes open it at once, so the first makes it under another name and
    gives it its own when it is whole; the others wait.

    Raises:
        RegistryError: another process has been making the store for too long.
    """
    file = sqlite_file(uri)
    if file is None or file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(f"{file}.lock", timeout=WAIT_S):
            if not file.exists():
                _make(file)
    except Timeout:
        raise RegistryError(
            f"another process has been making the store {str(file)!r} for {WAIT_S} s; see whether it still runs, and "
            f"delete {file.name}.lock if not"
        ) from None


def experiment_id(uri: str, name: str) -> str:
    """Give the id of an experiment, made if it is new; beside an SQLite store it keeps its files beside the store."""
    client = mlflow.MlflowClient(tracking_uri=uri, registry_uri=uri)
    known = client.get_experiment_by_name(name)
    if known is not None:
        return known.experiment_id
    file = sqlite_file(uri)
    location = None if file is None else (file.parent / ARTIFACTS).as_uri()
    return client.create_experiment(name, artifact_location=location)


def _make(file: Path) -> None:
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with quiet_loggers(CHATTY, level=logging.WARNING):
            mlflow.MlflowClient(tracking_uri=f"{SQLITE}{unfinished}").search_experiments(max_results=1)
        unfinished.rename(file)
    finally:
        unfinished.unlink(missing_ok=True)
