"""One model of each kind, and a batch for it."""

import pytest

from forecast.batch import Batch
from forecast.model.transformer import ForecastModel
from tests.forecast.model.kinds import KINDS, make_batch, make_model


@pytest.fixture(params=KINDS)
def model(request: pytest.FixtureRequest) -> ForecastModel:
    """A model of each kind in turn, in evaluation mode."""
    return make_model(request.param)


@pytest.fixture
def batch() -> Batch:
    """Three windows, one with missing steps."""
    return make_batch()
