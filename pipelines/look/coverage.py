"""Which series have values when: the share of missing steps by series and stretch of time."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64

from forecast.frames.panel import Panel
from pipelines.look.facts import SeriesFacts
from pipelines.look.timeline import Timeline

MAX_ROWS = 120  # lower rows than that leave cannot be told apart
NUM_COLUMNS = 160


@dataclass(frozen=True, eq=False)
class Coverage:
    """Series by stretches of time of equal length."""

    numbers: tuple[int, ...]
    """The series of the rows, those that start first on top."""

    missing: Float64[np.ndarray, "row column"]
    """Share of the steps without a value; NaN where the series has no step."""

    timeline: Timeline


def coverage(panel: Panel, facts: SeriesFacts, timeline: Timeline) -> Coverage:
    """Measure where the values of a panel are; of many series those with the most missing, and others evenly."""
    numbers = sorted(_rows(facts), key=lambda number: timeline.span_of(panel, number))
    cells = np.full((len(numbers), NUM_COLUMNS), np.nan)
    for row, number in zip(cells, numbers, strict=True):
        columns = _columns(int(panel.lengths[number]), *timeline.span_of(panel, number))
        steps = np.bincount(columns, minlength=NUM_COLUMNS)
        missing = np.bincount(columns, ~panel.observed[panel.series(number)], minlength=NUM_COLUMNS)
        np.divide(missing, steps, out=row, where=steps > 0)
        _stretch(row, columns)
    return Coverage(tuple(numbers), cells, timeline)


def _rows(facts: SeriesFacts) -> list[int]:
    if len(facts) <= MAX_ROWS:
        return list(range(len(facts)))
    by_missing = np.argsort(-facts.num_missing, kind="stable")
    most = min(MAX_ROWS // 2, int((facts.num_missing > 0).sum()))
    worst, others = by_missing[:most], np.sort(by_missing[most:])
    evenly = others[np.linspace(0, len(others) - 1, num=MAX_ROWS - most, dtype=np.int64)]
    return [*worst.tolist(), *evenly.tolist()]


def _columns(num_steps: int, first: float, last: float) -> Int64[np.ndarray, " step"]:
    """The column of each step of a series that begins and ends at these shares of the whole time, in even steps."""
    places = np.linspace(first, last, num=num_steps) * NUM_COLUMNS
    return np.minimum(places.astype(np.int64), NUM_COLUMNS - 1)


def _stretch(row: Float64[np.ndarray, " column"], columns: Int64[np.ndarray, " step"]) -> None:
    """Let a step that is longer than a column fill those up to the next step."""
    between = np.arange(columns[0], columns[-1] + 1)
    filled = np.maximum.accumulate(np.where(np.isfinite(row[between]), between, columns[0]))
    row[between] = row[filled]
