"""The unusual series are drawn, each once, and the draw of the others does not change from run to run."""

import numpy as np

from pipelines.look.choice import MAX_DRAWN, pick_series
from pipelines.look.facts import series_facts


def test_few_series_are_all_drawn(panel_of) -> None:
    picks = pick_series(series_facts(panel_of(a=[1.0, 2.0], b=[2.0, 1.0])))
    assert [(pick.number, pick.reason) for pick in picks] == [(0, ""), (1, "")]


def test_of_many_the_unusual_come_first_with_their_reasons(panel_of) -> None:
    series = {f"s{number:02d}": np.full(10, 1.0 + number) for number in range(30)}
    series["s07"] = np.arange(1.0, 21.0)
    series["s09"] = np.array([1.0, np.nan, np.nan, 4.0])
    series["s11"] = np.array([0.0, 0.0, 5.0])
    facts = series_facts(panel_of(**series))
    picks = pick_series(facts)
    assert [(pick.number, pick.reason) for pick in picks[:3]] == [
        (7, "longest"), (9, "most missing"), (11, "most zeros"),
    ]  # fmt: skip
    assert len({pick.number for pick in picks}) == len(picks) == MAX_DRAWN
    assert picks == pick_series(facts)


def test_a_series_that_is_unusual_twice_is_drawn_once(panel_of) -> None:
    series = {f"s{number}": np.ones(3) for number in range(30)}
    series["s4"] = np.array([0.0, np.nan, 0.0, 0.0, 1.0])
    picks = pick_series(series_facts(panel_of(**series)))
    assert picks[0].reason == "longest, most missing, most zeros"
    assert len(picks) == MAX_DRAWN


def test_series_without_any_value_are_no_error(panel_of) -> None:
    picks = pick_series(series_facts(panel_of(**{f"s{number}": [np.nan, np.nan] for number in range(9)})))
    assert picks[0].reason == "longest, most missing"
