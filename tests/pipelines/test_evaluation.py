"""The drive scores every window once, whatever the batch size, and shows no forecaster what it is scored on."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from jaxtyping import Int64

from forecast.baselines import FittedBaseline, LastValue, SeasonalNaive
from forecast.batch import Batch
from forecast.forecast import Forecast
from forecast.frames.panel import Panel
from forecast.metrics import SeriesScales
from pipelines import windows
from pipelines.evaluation import Contender, evaluate, forecast_windows
from pipelines.split import Parts
from pipelines.windows import WindowIndex

HORIZON, TRAIN, TEST = 5, 120, 160
LEVELS = (0.1, 0.5, 0.9)


@pytest.fixture
def panel(panel_of: Callable) -> Panel:
    random = np.random.default_rng(1)
    gappy = random.normal(size=TEST).cumsum()
    gappy[::9] = np.nan
    return panel_of(a=random.normal(size=TEST).cumsum(), b=gappy)


@pytest.fixture
def index(panel: Panel) -> WindowIndex:
    end = np.full(len(panel), TRAIN)
    parts = Parts(train_end=end - 20, validation_end=end, test_end=np.full(len(panel), TEST))
    return windows.test_windows(parts, horizon=HORIZON)


@pytest.fixture
def scales(panel: Panel) -> SeriesScales:
    ends = np.full(len(panel), TRAIN)
    return SeriesScales.measure(panel, ends=ends, units=np.ones(len(panel)), season_length=24)


@pytest.fixture
def seasonal(panel: Panel) -> FittedBaseline:
    return fit(SeasonalNaive(), panel, context_length=24)


def fit(baseline, panel: Panel, *, context_length: int) -> FittedBaseline:
    return baseline.fit(
        panel,
        ends=np.full(len(panel), TRAIN),
        units=np.ones(len(panel)),
        context_length=context_length,
        horizon=HORIZON,
        quantile_levels=LEVELS,
    )


@dataclass(frozen=True)
class Recorder:
    """Repeats the last value and keeps what it was given."""

    inner: FittedBaseline
    batches: list[Batch]

    context_length = 24
    quantile_levels = LEVELS

    def forecast(self, batch: Batch, *, series: Int64[np.ndarray, " batch"], horizon: int) -> Forecast:
        self.batches.append(batch)
        return self.inner.forecast(batch, series=series, horizon=horizon)


def test_baselines_and_anything_of_their_shape_are_contenders(seasonal: FittedBaseline):
    assert isinstance(seasonal, Contender)
    assert isinstance(Recorder(seasonal, []), Contender)


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_every_window_is_scored_whatever_the_batch_size(
    panel: Panel, index: WindowIndex, scales: SeriesScales, seasonal: FittedBaseline, batch_size: int
):
    whole = evaluate(seasonal, panel, index, horizon=HORIZON, scales=scales)
    cut = evaluate(seasonal, panel, index, horizon=HORIZON, scales=scales, batch_size=batch_size)
    assert cut.num_windows == len(index) == 2 * (TEST - TRAIN - HORIZON + 1)
    assert cut.overall() == whole.overall()
    for name in whole.metrics:
        np.testing.assert_array_equal(cut.by_step()[name], whole.by_step()[name])
        np.testing.assert_array_equal(cut.by_series()[name], whole.by_series()[name])


def test_the_score_is_that_of_a_loop_over_windows(
    panel: Panel, index: WindowIndex, scales: SeriesScales, seasonal: FittedBaseline
):
    errors = []
    series, origins = index.locate(np.arange(len(index)))
    for number, origin in zip(series.tolist(), origins.tolist(), strict=True):
        place = panel.series(number)
        values = np.where(panel.observed[place], panel.values[place], np.nan)
        for step in range(origin, origin + HORIZON):
            same_phase = values[origin - 24 : origin][(step - origin) % 24]
            observed = values[origin - 24 : origin][~np.isnan(values[origin - 24 : origin])]
            errors.append(abs((observed[-1] if np.isnan(same_phase) else same_phase) - values[step]))
    figure = evaluate(seasonal, panel, index, horizon=HORIZON, scales=scales).overall()["mae"]
    assert figure == pytest.approx(np.nanmean(errors), rel=1e-12)


def test_a_forecaster_is_given_its_own_context_and_no_future(
    panel: Panel, index: WindowIndex, scales: SeriesScales, seasonal: FittedBaseline
):
    recorder = Recorder(seasonal, [])
    evaluate(recorder, panel, index, horizon=HORIZON, scales=scales, batch_size=16)
    assert {batch.past.shape[1] for batch in recorder.batches} == {24}
    assert {batch.future.shape[1] for batch in recorder.batches} == {0}
    assert sum(len(batch.past) for batch in recorder.batches) == len(index)


def test_corrupting_everything_after_an_origin_changes_no_forecast_made_at_it(panel: Panel, seasonal: FittedBaseline):
    origin = np.array([TRAIN, TRAIN])
    after = np.arange(len(panel.values)) % TEST >= TRAIN
    corrupted = replace(panel, values=np.where(after & panel.observed, 1e9, panel.values))
    given = [
        forecast_windows(seasonal, each, series=np.arange(2), origins=origin, horizon=HORIZON)
        for each in (panel, corrupted)
    ]
    np.testing.assert_array_equal(given[0].quantiles, given[1].quantiles)


def test_targets_past_the_part_of_the_windows_are_not_scored(panel: Panel, scales: SeriesScales):
    ends = np.full(len(panel), TRAIN)
    over_the_edge = WindowIndex(first=ends - 2, last=ends - 2, ends=ends)
    last = fit(LastValue(), panel, context_length=24)
    figures = evaluate(last, panel, over_the_edge, horizon=HORIZON, scales=scales).by_step()["mae"]
    np.testing.assert_array_equal(np.isnan(figures), [False, False, True, True, True])


def test_a_forecaster_of_points_is_scored_at_the_levels_of_the_others(
    panel: Panel, index: WindowIndex, scales: SeriesScales, seasonal: FittedBaseline
):
    points = replace(seasonal, quantile_levels=(), spreads=seasonal.spreads[:, :, :0])
    figures = evaluate(points, panel, index, horizon=HORIZON, scales=scales, quantile_levels=LEVELS).overall()
    assert figures["mae"] == evaluate(seasonal, panel, index, horizon=HORIZON, scales=scales).overall()["mae"]
    assert figures["coverage_80"] < 0.1
    assert np.isfinite(figures["wql"])


def test_progress_is_told_batch_by_batch_and_only_when_asked(
    panel: Panel, index: WindowIndex, scales: SeriesScales, seasonal: FittedBaseline, capsys: pytest.CaptureFixture
):
    seen = []
    evaluate(seasonal, panel, index, horizon=HORIZON, scales=scales, batch_size=10)
    assert capsys.readouterr() == ("", "")
    evaluate(
        seasonal,
        panel,
        index,
        horizon=HORIZON,
        scales=scales,
        batch_size=10,
        track=lambda batches: (seen.append(len(batch)) or batch for batch in batches),
    )
    assert sum(seen) == len(index)
