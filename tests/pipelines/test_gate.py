"""The gate: a candidate passes where it is better on every deciding metric that was measured, and says why."""

import numpy as np

from forecast.forecast import Forecast
from forecast.metrics import Comparison, Scores, standard_metrics
from pipelines.flows.result import BacktestResult
from pipelines.gate import judge

HORIZON = 4
LEVELS = (0.1, 0.5, 0.9)


def scored(error: float, *, spread: float = 1.0, scale: float = 1.0, levels: tuple[float, ...] = LEVELS) -> Scores:
    """Scores of a forecaster that is `error` off everywhere, with an interval of `spread` to either side."""
    scores = Scores(standard_metrics(levels), num_series=1, horizon=HORIZON)
    mean = np.full((1, HORIZON), error)
    quantiles = mean[..., None] + spread * np.sign(np.array(levels) - 0.5)
    comparison = Comparison(
        forecast=Forecast(mean, quantiles, quantile_levels=levels),
        actual=np.full((1, HORIZON), 10.0),
        observed=np.ones((1, HORIZON), dtype=bool),
        unit=np.ones(1),
        seasonal_scale=np.array([scale]),
    )
    scores.add(comparison, series=np.array([0]))
    return scores


def judged(candidate: Scores, rival: Scores):
    result = BacktestResult(ids=("a",), horizon=HORIZON, scores={"new": candidate, "naive": rival})
    return judge(result, candidate="new", rival="naive")


def test_a_candidate_that_is_better_on_both_metrics_passes() -> None:
    decision = judged(scored(9.0), scored(7.0))
    assert decision.passed
    assert decision.reasons[0] == "mase 1.0000 is below 3.0000 of naive"
    assert decision.reasons[1].startswith("wql ")
    assert len(decision.reasons) == 2


def test_a_candidate_that_is_worse_does_not_pass() -> None:
    decision = judged(scored(7.0), scored(9.0))
    assert not decision.passed
    assert decision.reasons[0] == "mase 3.0000 is not below 1.0000 of naive"


def test_better_points_with_worse_quantiles_do_not_pass() -> None:
    decision = judged(scored(9.0, spread=50.0), scored(8.0))
    assert not decision.passed
    assert ["not below" in reason for reason in decision.reasons] == [False, True]


def test_as_good_is_not_better() -> None:
    assert not judged(scored(9.0), scored(9.0)).passed


def test_points_are_judged_by_points_alone() -> None:
    decision = judged(scored(9.0, levels=()), scored(7.0, levels=()))
    assert decision.passed
    assert decision.reasons == ("mase 1.0000 is below 3.0000 of naive",)


def test_a_metric_that_is_undefined_for_both_does_not_count() -> None:
    decision = judged(scored(9.0, scale=0.0), scored(7.0, scale=0.0))
    assert decision.passed
    assert [reason.split()[0] for reason in decision.reasons] == ["wql"]


def test_where_nothing_can_be_compared_nothing_passes() -> None:
    decision = judged(scored(9.0, scale=0.0, levels=()), scored(7.0, scale=0.0, levels=()))
    assert not decision.passed
    assert decision.reasons == ("none of mase, wql is defined on the test windows",)


def test_a_figure_that_is_undefined_for_the_candidate_alone_does_not_pass() -> None:
    assert not judged(scored(9.0, scale=0.0), scored(7.0)).passed
