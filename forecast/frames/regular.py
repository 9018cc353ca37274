"""Series given whole, a start and a run of values each, into a panel by the rules that frames are read by."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from jaxtyping import Bool, Float64, Int64

from forecast.errors import DataError, FrequencyError, SeriesTooShort
from forecast.frames.calendar.base import Calendar
from forecast.frames.column_type import ColumnType
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract
from forecast.frames.frequency import Frequency
from forecast.frames.grid import Grid, lay_out
from forecast.frames.ledger import Ledger
from forecast.frames.panel import Panel
from forecast.frames.policies import judge_missing, judge_short, note_constant
from forecast.frames.report import Finding
from forecast.frames.rows import Rows
from forecast.frames.stepped import Stepped
from forecast.frames.time import StampType, TimeAxis

FIRST_YEAR, LAST_YEAR = 1700, 2261
"""Nanoseconds since 1970 fit 64 bits from 1678 to 2261; whole years inside that are what a caller can remember."""

FARTHEST = {"count": 2.0**53, "instant": 2.0**63 - 1e12, "local": 1e7}
"""Places beyond which a clock's whole numbers, or the stamps made of them, no longer fit 64 bits (or JSON's 53)."""

COLUMNS = Columns(time="start")
"""The names by which messages call the parts of `RegularSeries`."""


@dataclass(frozen=True, eq=False)
class RegularSeries:
    """Series without a gap or a duplicate, by construction."""

    ids: tuple[str | int, ...]
    """Unique."""

    starts: pl.Series
    """The first stamp of each series, from `FIRST_YEAR` to `LAST_YEAR` and without nulls: Int64, or Datetime, naive or
    in the zone in which days are counted."""

    sizes: Int64[np.ndarray, " series"]
    """Steps of each series, 0 or more."""

    values: Float64[np.ndarray, " step"]
    """The series end to end; NaN where a value is missing, never infinite."""


@dataclass(frozen=True, eq=False)
class PreparedSeries:
    """Series that have passed the contract, maybe none."""

    panel: Panel
    findings: tuple[Finding, ...]
    left_out: dict[str | int, DataError]
    """Series that do not go on, by id, with what is wrong with each."""


def prepare_regular(
    series: RegularSeries, *, frequency: Frequency, contract: DataContract, horizon: int
) -> PreparedSeries:
    """Read series into the panel that `prepare` would read from a frame of their rows; those at fault are left out.

    A series is at fault too where the `horizon` steps after its end leave the calendar.

    Raises:
        FrequencyError: the frequency counts integers and the starts are datetimes, or the other way round.
    """
    dtype = series.starts.dtype
    _check_clock(frequency.calendar, dtype)
    numbers = np.arange(len(series.ids), dtype=np.int64)
    grid = lay_out(Rows(numbers, series.starts, np.zeros(len(numbers)), numbers), frequency.calendar)
    axis = TimeAxis(frequency, StampType(ColumnType(dtype), dtype), grid.origins)
    ledger = _judged(series, axis, contract, _faults(series, axis, grid, horizon=horizon))
    left_out = ledger.left_out()
    panel = _panel(series, axis)
    if left_out:
        panel = panel.select([number for number, name in enumerate(series.ids) if name not in left_out])
    findings = tuple(finding for finding in ledger.findings if finding.series not in left_out)
    return PreparedSeries(panel, findings, left_out)


def _check_clock(calendar: Calendar, dtype: pl.DataType) -> None:
    counts = dtype == pl.Int64
    if counts != (calendar.clock == "count"):
        starts = "integers" if counts else "dates or datetimes"
        wanted = "a whole number" if counts else "a calendar's, for example 'h' or 'D'"
        raise FrequencyError(
            f"the starts are {starts}, so the frequency must be {wanted}, got {calendar.text!r}", field="frequency"
        )


def _faults(series: RegularSeries, axis: TimeAxis, grid: Grid, *, horizon: int) -> dict[int, DataError]:
    """Find the series that hold nothing, start beside the grid or leave the calendar."""
    faults: dict[int, DataError] = {}

    def refuse(chosen: Bool[np.ndarray, " series"], error: type[DataError], column: str, what: str) -> None:
        for number in np.flatnonzero(chosen).tolist():
            name = series.ids[number]
            faults.setdefault(number, error(f"series {name!r} {what}", series=str(name), field=column))

    refuse(series.sizes == 0, SeriesTooShort, COLUMNS.target, "has no steps; send one or more")
    beside = f"starts beside the steps of {axis.frequency.text!r}; start on one of them, or give the frequency it has"
    refuse(~grid.fits, FrequencyError, COLUMNS.time, beside)
    late = f"would go on past the year {LAST_YEAR}; ask for a shorter horizon, or give the frequency it has"
    refuse(_leaves_calendar(axis, steps=series.sizes + horizon), DataError, COLUMNS.time, late)
    return faults


def _leaves_calendar(axis: TimeAxis, *, steps: Int64[np.ndarray, " series"]) -> Bool[np.ndarray, " series"]:
    """Tell which series reach a step that cannot be stamped; in floats first, because whole numbers wrap around."""
    calendar, origins = axis.frequency.calendar, axis.origins
    first = np.zeros_like(steps)
    stride = calendar.places(first + 1, origins=origins) - calendar.places(first, origins=origins)
    far = origins.places + stride.astype(np.float64) * steps > FARTHEST[calendar.clock]
    last = axis.moments_at(np.arange(len(steps), dtype=np.int64), steps=np.where(far, first, steps))
    return far if last.dtype == pl.Int64 else far | (last.dt.year() > LAST_YEAR).to_numpy()


def _judged(series: RegularSeries, axis: TimeAxis, contract: DataContract, faults: dict[int, DataError]) -> Ledger:
    """Apply the policies of the contract that can concern series without gaps."""
    sizes = series.sizes
    sound = ~np.isin(np.arange(len(sizes)), np.fromiter(faults, dtype=np.int64))
    kept = np.repeat(sound, sizes)
    numbers = np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)
    steps = np.arange(len(numbers), dtype=np.int64) - (np.cumsum(sizes) - sizes)[numbers]
    numbers, steps = numbers[kept], steps[kept]
    moments = axis.moments_at(numbers, steps=steps)
    ledger = Ledger(series.ids, moments, COLUMNS)
    ledger.faults.update(faults)
    if len(numbers):
        rows = Rows(numbers, moments, series.values[kept], np.arange(len(numbers), dtype=np.int64))
        judge_missing(rows, ledger, policy=contract.on_missing)
        judge_short(Stepped(rows, steps, axis), ledger, policy=contract.on_short, min_length=contract.min_length)
        note_constant(rows, ledger)
    return ledger


def _panel(series: RegularSeries, axis: TimeAxis) -> Panel:
    observed = ~np.isnan(series.values)
    return Panel(
        ids=series.ids,
        values=np.where(observed, series.values, 0.0),
        observed=observed,
        offsets=np.concatenate([[0], np.cumsum(series.sizes)]).astype(np.int64),
        axis=axis,
    )
