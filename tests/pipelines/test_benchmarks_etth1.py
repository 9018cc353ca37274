"""The protocol of the long-horizon benchmarks on ETTh1: every test window, errors in units of the training part.

The figures are known beforehand: they were computed by other code, and the naive ones have no parameter to differ in.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from forecast.baselines import Baseline, LastValue, Linear, SeasonalNaive
from forecast.frames.contract import DataContract, prepare
from forecast.metrics import SeriesScales
from pipelines import windows
from pipelines.flows.backtest import backtest, fit_baselines
from pipelines.sources import PublicSource
from pipelines.split import StepsSplit, train_units

HORIZON, CONTEXT = 96, 504
Score = Callable[[Baseline], dict[str, float]]


@pytest.fixture(scope="module")
def score(data_dir: Path) -> Score:
    panel = prepare(PublicSource(name="ETTh1").read(), DataContract()).panel
    parts = StepsSplit(train=8640, validation=2880, test=2880).cut(panel, horizon=HORIZON)
    units = train_units(panel, parts.train_end)
    index = windows.test_windows(parts, horizon=HORIZON)
    scales = SeriesScales.measure(panel, ends=parts.train_end, units=units, season_length=24)
    settings = {"ends": parts.train_end, "units": units, "context_length": CONTEXT, "horizon": HORIZON}

    def run(baseline: Baseline) -> dict[str, float]:
        fitted = fit_baselines([baseline], panel, quantile_levels=(), **settings)
        result = backtest(fitted, panel, index, horizon=HORIZON, scales=scales)
        assert result.num_windows == 7 * 2785
        return result[baseline.name].overall()

    return run


@pytest.mark.parametrize(
    ("baseline", "mse", "mae"),
    [
        (LastValue(), 1.294, 0.713),
        (SeasonalNaive(), 0.512, 0.433),
        (SeasonalNaive(season_length=168), 0.657, 0.509),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_naive_rows_equal_the_published_protocol(score: Score, baseline: Baseline, mse: float, mae: float):
    figures = score(baseline)
    assert np.round([figures["standardised_mse"], figures["standardised_mae"]], 3).tolist() == [mse, mae]


@pytest.mark.slow
def test_the_closed_form_linear_row_is_the_floor(score: Score):
    figures = score(Linear())
    assert np.round([figures["standardised_mse"], figures["standardised_mae"]], 3).tolist() == [0.364, 0.390]
