"""Rolling folds: trained anew, side by side, and blind to what comes after them."""

from dataclasses import replace

import numpy as np
import pytest

from forecast.config import build_config
from forecast.errors import SeriesTooShort
from forecast.frames.panel import Panel
from pipelines.config import RunConfig
from pipelines.flows.folds import backtest_folds
from pipelines.flows.score import MODEL

HORIZON = 6


@pytest.fixture(scope="module")
def config() -> RunConfig:
    return build_config(
        RunConfig,
        {
            "name": "folds",
            "model": {
                "context_length": 24,
                "horizon": HORIZON,
                "patch_length": 6,
                "num_encoder_layers": 1,
                "layer": {"d_model": 8, "num_heads": 2},
                "decoder": {"kind": "direct", "patch_length": 6},
            },
            "trainer": {"max_epochs": 1, "device": "cpu", "stride": 5},
        },
    )


def mase(config: RunConfig, panel: Panel) -> list[float]:
    return [fold[MODEL].overall()["mase"] for fold in backtest_folds(config, panel, num_folds=2)]


def test_test_parts_of_the_folds_tile_that_of_the_split(config, waves):
    folds = backtest_folds(config, waves, num_folds=2)
    assert [fold.num_windows for fold in folds] == [2 * (20 - HORIZON + 1)] * 2


def test_what_comes_after_a_fold_changes_nothing_in_it(config, waves):
    values = waves.values.copy()
    for number in range(len(waves)):
        values[waves.series(number)][-20:] = 1e3  # the test part of the newest fold
    before, after = mase(config, waves), mase(config, replace(waves, values=values))
    assert after[0] == before[0]
    assert after[1] != before[1]
    assert np.isfinite(after).all()


def test_folds_too_short_for_the_horizon_are_refused(config, waves):
    with pytest.raises(SeriesTooShort, match="10 folds share a test part of 40 steps"):
        backtest_folds(config, waves, num_folds=10)
