"""The map shows each series where it has steps, and how many of them are missing."""

import numpy as np
import polars as pl

from forecast.frames.contract import DataContract, prepare
from forecast.frames.panel import Panel
from pipelines.look.coverage import MAX_ROWS, NUM_COLUMNS, Coverage, coverage
from pipelines.look.facts import series_facts
from pipelines.look.timeline import Timeline


def map_of(panel: Panel) -> Coverage:
    return coverage(panel, series_facts(panel), Timeline.of_panel(panel))


def panel_of_spans(*spans: tuple[int, int]) -> Panel:
    frames = [
        pl.DataFrame({"unique_id": f"s{number}", "ds": np.arange(*span), "y": np.arange(*span) * 1.0})
        for number, span in enumerate(spans)
    ]
    return prepare(pl.concat(frames), DataContract()).panel


def test_nothing_is_shown_before_a_series_starts_or_after_it_ends() -> None:
    found = map_of(panel_of_spans((0, 1601), (800, 1201)))
    assert found.numbers == (0, 1)
    inside = np.isfinite(found.missing)
    assert inside[0].all()
    assert np.flatnonzero(inside[1]).tolist() == list(range(NUM_COLUMNS // 2, 3 * NUM_COLUMNS // 4 + 1))
    assert np.nansum(found.missing) == 0


def test_series_that_start_first_stand_on_top() -> None:
    assert map_of(panel_of_spans((500, 900), (0, 700), (0, 300))).numbers == (2, 1, 0)


def test_a_gap_is_shown_where_it_is(panel_of) -> None:
    values = np.ones(NUM_COLUMNS * 10)
    values[400:800] = np.nan
    found = map_of(panel_of(a=values))
    np.testing.assert_allclose(found.missing[0, 41:79], 1.0)
    np.testing.assert_allclose(found.missing[0, 81:], 0.0)
    assert np.isclose(np.nanmean(found.missing), 0.25, atol=0.01)


def test_a_step_that_is_longer_than_a_column_leaves_no_hole(panel_of) -> None:
    found = map_of(panel_of(a=[1.0, np.nan, 3.0]))
    assert np.isfinite(found.missing).all()
    assert (found.missing[0, NUM_COLUMNS // 2 + 1 : -1] == 1).all()
    assert (found.missing[0, : NUM_COLUMNS // 2 - 1] == 0).all()


def test_of_many_series_those_that_lack_most_are_shown(panel_of) -> None:
    series = {f"s{number}": np.ones(5) for number in range(MAX_ROWS + 100)}
    series["s77"] = np.array([1.0, np.nan, 1.0, 1.0, 1.0])
    found = map_of(panel_of(**series))
    assert len(set(found.numbers)) == len(found.numbers) == MAX_ROWS
    assert 77 in found.numbers
    assert max(found.numbers) == MAX_ROWS + 99
