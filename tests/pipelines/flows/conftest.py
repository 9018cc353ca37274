"""What tests of the flows share: two noisy daily waves, and the tiny run that the command line has trained."""

from collections.abc import Callable

import numpy as np
import pytest

from forecast.frames.panel import Panel
from tests.tiny_run import TinyChampion, tiny_champion

STEPS = 200


@pytest.fixture(scope="session")
def waves(panel_of: Callable[..., Panel]) -> Panel:
    """Two series of 200 hours: 140 train, 20 validate, 40 test."""
    random = np.random.default_rng(7)
    daily = np.sin(np.arange(STEPS) * 2 * np.pi / 24)
    return panel_of(a=daily + random.normal(0, 0.1, STEPS), b=50 + 5 * daily + random.normal(0, 1, STEPS))


@pytest.fixture(scope="session")
def champion(tracking_uri: str) -> TinyChampion:
    """The tiny run, trained by the command line and promoted."""
    return tiny_champion(tracking_uri)
