"""What every test stands on: checked shapes, fixed seeds, one thread, no telemetry, a repository left as it was."""

import json
import os
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Self

import polars
import pytest
from beartype import BeartypeConf, FrozenDict, beartype
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

REPOSITORY = Path(__file__).parents[1]
CHECKED_PACKAGES = ("forecast", "pipelines")
SEED = 20260501
START = datetime(2024, 1, 1)  # a Monday, the first of a month

# Folders into which tools and `make golden` may write: the rest of the repository belongs to the people who work on it.
TOOL_FOLDERS = {".git", ".venv", "__pycache__", ".pytest_cache", ".ruff_cache", ".hypothesis", "golden"}
# A person may save one of these while the tests run; no test of ours leaves one.
SOURCES = {".py", ".md", ".toml", ".yaml"}

# Before the libraries below start their threads, because they read these once: two test processes share two cores.
os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", POLARS_MAX_THREADS="1")
os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="true", MPLBACKEND="Agg")


def check_types(checked: Any) -> Any:
    """beartype without the hints it cannot read: `Self` in a class that it did not decorate, polars column types."""
    return beartype(conf=BeartypeConf(hint_overrides=FrozenDict(dict.fromkeys(_ON_TRUST, object))))(checked)


_COLUMN_TYPES = [kind for kind in vars(polars).values() if isinstance(kind, type) and issubclass(kind, polars.DataType)]
_ON_TRUST = [Self, *_COLUMN_TYPES]

# The hook rewrites modules as they are imported, so one that came earlier would go unchecked for the whole run.
assert not set(CHECKED_PACKAGES) & set(sys.modules), "a package was imported before its shapes could be checked"
sys.modules["longcast_conftest"] = sys.modules[__name__]  # the hook looks its checker up by name
install_import_hook(list(CHECKED_PACKAGES), "longcast_conftest.check_types")

settings.register_profile(
    "longcast",
    derandomize=True,  # the same examples on every machine: a failure is the change's, never the dice's
    max_examples=30,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # the first example pays for importing torch
)
settings.load_profile("longcast")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the switch behind `make golden`."""
    parser.addoption("--write-golden", action="store_true", help="write the golden numbers anew, compare with none")


@pytest.fixture(autouse=True)
def seeds() -> int:
    """The seed that `random`, numpy and torch start from in every test, whatever ran before it."""
    import numpy as np
    import torch

    random.seed(SEED)
    np.random.seed(SEED)  # noqa: NPY002 - libraries that still draw from numpy's global state are to be fixed too
    torch.manual_seed(SEED)
    return SEED


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """torch keeps to one thread, also when something imported before this file had set another number."""
    import torch

    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the project's tree."""
    return REPOSITORY


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data sets named by `LONGCAST_DATA_DIR`; tests that need it are skipped without it."""
    folder = os.environ.get("LONGCAST_DATA_DIR")
    if not folder:
        pytest.skip("LONGCAST_DATA_DIR is not set, and this test reads real data from the folder it names")
    if not Path(folder).is_dir():
        pytest.fail(f"LONGCAST_DATA_DIR names {folder!r}, which is not a folder; unset it or correct it")
    return Path(folder)


@pytest.fixture(scope="session")
def panel_of() -> Callable[..., Any]:
    """Makes a panel of `id=values` series that start together, hourly unless `every` says otherwise.

    NaN marks a step without an observation.
    """
    import polars as pl

    from forecast.frames.contract import DataContract, prepare

    def make(*, every: timedelta = timedelta(hours=1), **series: Sequence[float]) -> Any:
        frames = [
            pl.DataFrame(
                {
                    "unique_id": name,
                    "ds": [START + every * step for step in range(len(values))],
                    "y": pl.Series(values, dtype=pl.Float64),
                }
            )
            for name, values in series.items()
        ]
        return prepare(pl.concat(frames), DataContract()).panel

    return make


@pytest.fixture
def golden(pytestconfig: pytest.Config) -> Callable[[str, Mapping[str, float]], None]:
    """Compares numbers with those kept in `tests/golden/NAME.json`, or writes them there under `make golden`.

    The tolerance of 1e-4 covers what different processors round differently; a change of the method shows above it.
    """

    def compare(name: str, numbers: Mapping[str, float]) -> None:
        file = REPOSITORY / "tests" / "golden" / f"{name}.json"
        if pytestconfig.getoption("--write-golden"):
            file.parent.mkdir(exist_ok=True)
            file.write_text(json.dumps(dict(numbers), indent=2) + "\n", encoding="utf-8")
        kept = json.loads(file.read_text(encoding="utf-8"))
        assert dict(numbers) == pytest.approx(kept, rel=1e-4), "see whether the change is meant; if so: make golden"

    return compare


@pytest.fixture(scope="session", autouse=True)
def tracking_uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The MLflow store that is used where a test names none: an SQLite file of this test process alone.

    Each process has its own, because two that open a new file at once break it for good.
    """
    uri = f"sqlite:///{tmp_path_factory.mktemp('mlflow') / 'mlflow.db'}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", uri)
        patch.setenv("MLFLOW_REGISTRY_URI", uri)
        yield uri


@pytest.fixture(scope="session", autouse=True)
def clean_repository() -> Iterator[None]:
    """Fails the run when a test left a file in the repository: runs, stores and pictures belong in `tmp_path`."""
    before = _files_in_repository()
    yield
    left = sorted(_files_in_repository() - before)
    assert not left, f"the tests wrote into the repository: {left[:10]}; let them write to tmp_path"


def _files_in_repository() -> set[str]:
    found: set[str] = set()
    for folder, subfolders, names in os.walk(REPOSITORY):
        subfolders[:] = [name for name in subfolders if name not in TOOL_FOLDERS]
        found.update(str(Path(folder) / name) for name in names if Path(name).suffix not in SOURCES)
    return found
