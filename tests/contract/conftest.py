"""Models behind every door, and the count of the inputs that were tried."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog
import torch

from tests.contract.faces import CURRENT, INPUTS, Room

COUNTS = "LONGCAST_CONTRACT_COUNTS"
"""Names the file that the counts are written to at the end, as JSON."""


@pytest.fixture(autouse=True)
def row(request: pytest.FixtureRequest) -> str:
    """The row of the contract that a test is of."""
    CURRENT[0] = getattr(request.function, "contract_row", "")
    return CURRENT[0]


@pytest.fixture(scope="session", autouse=True)
def quiet() -> None:
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())


@pytest.fixture(scope="session")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Room]]:
    """Gives the model of a kind, made once."""
    made: dict[str, Room] = {}

    def give(**wanted: Any) -> Room:
        key = repr(sorted(wanted.items(), key=repr))
        if key not in made:
            torch.manual_seed(7)
            made[key] = Room(folder=Path(tmp_path_factory.mktemp("room")), **wanted)
            assert made[key].predictor
        return made[key]

    yield give
    for room in made.values():
        room.close()


@pytest.fixture(scope="session")
def room(rooms: Callable[..., Room]) -> Room:
    """An hourly model."""
    return rooms()


def pytest_sessionfinish() -> None:
    """Write how many inputs were tried, where somebody asked for it."""
    if file := os.environ.get(COUNTS):
        Path(file).write_text(json.dumps(INPUTS), encoding="utf-8")
