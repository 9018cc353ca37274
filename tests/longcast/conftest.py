"""What tests of the door share: the run that `longcast train` has left, and a cache that is the tests' own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from forecast.store import sqlite_file
from pipelines.store import ensure_store
from tests.tiny_run import TinyChampion, tiny_champion


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where models that come from the registry are kept, in place of the user's own cache."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LONGCAST_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(scope="session")
def champion(tracking_uri: str) -> TinyChampion:
    """The tiny run, trained by the command line and promoted."""
    return tiny_champion(tracking_uri)


@pytest.fixture(scope="session")
def ready_store(tracking_uri: str) -> Path:
    """The file of a store that is made already: making one takes MLflow seconds, copying it none."""
    ensure_store(tracking_uri)
    file = sqlite_file(tracking_uri)
    assert file is not None
    return file
