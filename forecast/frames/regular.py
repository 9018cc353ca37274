"""Series given whole, a start and a run of values each, into a panel by the rules that frames are read by."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from jaxtyping import Bool, Int64

from forecast.errors import DataError, FrequencyError, SeriesTooShort
from forecast.frames.calendar.base import Calendar
from forecast.frames.channels import channels_of, leave_whole_entities, spread_channels
from forecast.frames.column_type import ColumnType
from forecast.frames.contract import DataContract
from forecast.frames.covariate_columns import check_present
from forecast.frames.covariates import CovariateSchema
from forecast.frames.door import Table
from forecast.frames.frequency import Frequency
from forecast.frames.grid import Grid, lay_out
from forecast.frames.ids import SeriesIds
from forecast.frames.laying import Laying, check_calendar
from forecast.frames.ledger import Ledger
from forecast.frames.panel import Panel
from forecast.frames.policies import judge_missing, judge_short, note_constant
from forecast.frames.regular_series import TARGET, TIME, RegularSeries
from forecast.frames.report import Finding
from forecast.frames.rows import Rows
from forecast.frames.stepped import Stepped
from forecast.frames.time import StampType, TimeAxis

FIRST_YEAR, LAST_YEAR = 1700, 2261
"""Nanoseconds since 1970 fit 64 bits from 1678 to 2261; whole years inside that are what a caller can remember."""

FARTHEST = {"count": 2.0**53, "instant": 2.0**63 - 1e12, "local": 1e7, "wall": 1e7 * 86_400e6}
"""Places beyond which a clock's whole numbers, or the stamps made of them, no longer fit 64 bits (or JSON's 53)."""

FUTURE_FIX = "give a value for each of these steps in future"


@dataclass(frozen=True, eq=False)
class PreparedSeries:
    """Series that have passed the contract, maybe none."""

    panel: Panel
    findings: tuple[Finding, ...]
    """Where there are several targets, the series of a finding is `id/target`, as in the panel."""

    left_out: dict[str | int, DataError]
    """Series that do not go on, by their own id, with what is wrong with each."""


def prepare_regular(
    series: RegularSeries,
    *,
    frequency: Frequency,
    contract: DataContract,
    horizon: int,
    schema: CovariateSchema | None = None,
) -> PreparedSeries:
    """Read series into the panel that `prepare` would read from a frame of their rows; those at fault are left out.

    A series is at fault too where the `horizon` steps after its end leave the calendar. `schema` is what a model has
    learnt of the covariates; it is read from the cells where there is none.

    Raises:
        FrequencyError: the frequency counts integers and the starts are datetimes, or the other way round; or the
            calendar features of `schema` mean nothing for its steps.
        ColumnMissing: a covariate of the contract is not given.
        WrongType: a covariate that was learnt as numbers is text.
    """
    dtype = series.starts.dtype
    _check_clock(frequency.calendar, dtype)
    check_calendar(contract.calendar, schema, frequency=frequency)
    given = (*series.past, *series.future, *series.static)
    check_present(contract.covariates, present=given, frame_columns=given)
    everyone = np.arange(len(series.ids), dtype=np.int64)
    grid = lay_out(Rows(everyone, series.starts, np.zeros(len(everyone)), everyone), frequency.calendar)
    axis = TimeAxis(frequency, StampType(ColumnType(dtype), dtype), grid.origins)
    faults = _faults(series, axis, grid, horizon=horizon)
    sound = ~np.isin(everyone, np.fromiter(faults, dtype=np.int64))
    opened = _Opened.of(series, axis, contract, sound=sound, faults=faults)
    if sound.any():
        opened.judge(contract)
    return _finish(series, opened, contract, horizon=horizon, schema=schema)


@dataclass(frozen=True, eq=False)
class _Opened:
    """The rows that the sound series stand for, as a frame would hold them."""

    table: Table
    ids: SeriesIds
    stepped: Stepped
    ledger: Ledger

    @classmethod
    def of(
        cls,
        series: RegularSeries,
        axis: TimeAxis,
        contract: DataContract,
        *,
        sound: Bool[np.ndarray, " series"],
        faults: Mapping[int, DataError],
    ) -> "_Opened":
        kept, numbers = series.keep(sound), np.flatnonzero(sound)
        table = kept.table(axis.select(numbers.tolist()), contract)
        ids = SeriesIds(series.ids, numbers[kept.owners])
        spread = spread_channels(ids, times=table.times, moments=table.times, targets=table.columns.targets)
        rows = Rows.sort(series=spread.series, moments=spread.moments, targets=pl.Series(np.concatenate(kept.values)))
        steps = np.arange(len(rows.series), dtype=np.int64) - np.repeat(rows.starts, rows.lasts - rows.starts + 1)
        count = len(kept.values)
        stepped = Stepped(rows, steps, axis.select(np.repeat(numbers, count).tolist()))
        ledger = Ledger(spread.names, spread.times, table.columns)
        ledger.faults.update({number * count: fault for number, fault in faults.items()})
        return cls(table, ids, stepped, ledger)

    def judge(self, contract: DataContract) -> None:
        """Apply the policies of the contract that can concern series without gaps."""
        judge_missing(self.stepped.rows, self.ledger, policy=contract.on_missing)
        judge_short(self.stepped, self.ledger, policy=contract.on_short, min_length=contract.min_length)
        note_constant(self.stepped.rows, self.ledger)


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

    refuse(series.sizes == 0, SeriesTooShort, TARGET, "has no steps; send one or more")
    beside = f"starts beside the steps of {axis.frequency.text!r}; start on one of them, or give the frequency it has"
    refuse(~grid.fits, FrequencyError, TIME, beside)
    late = f"would go on past the year {LAST_YEAR}; ask for a shorter horizon, or give the frequency it has"
    refuse(_leaves_calendar(axis, steps=series.sizes + horizon), DataError, TIME, late)
    return faults


def _leaves_calendar(axis: TimeAxis, *, steps: Int64[np.ndarray, " series"]) -> Bool[np.ndarray, " series"]:
    """Tell which series reach a step that cannot be stamped; in floats first, because whole numbers wrap around."""
    calendar, origins = axis.frequency.calendar, axis.origins
    first = np.zeros_like(steps)
    stride = calendar.places(first + 1, origins=origins) - calendar.places(first, origins=origins)
    far = origins.places + stride.astype(np.float64) * steps > FARTHEST[calendar.clock]
    last = axis.moments_at(np.arange(len(steps), dtype=np.int64), steps=np.where(far, first, steps))
    return far if last.dtype == pl.Int64 else far | (last.dt.year() > LAST_YEAR).to_numpy()


def _finish(
    series: RegularSeries, opened: _Opened, contract: DataContract, *, horizon: int, schema: CovariateSchema | None
) -> PreparedSeries:
    """Lay the covariates out, and give the panel of the series that go on."""
    ledger, count = opened.ledger, len(series.values)
    panel = _panel(series, opened, contract, horizon=horizon, schema=schema)
    out = {**ledger.dropped, **ledger.faults}
    left_out: dict[str | int, DataError] = {}
    for number in sorted(out):
        left_out.setdefault(series.ids[number // count], out[number])
    names = {ledger.names[number] for number in out}
    return PreparedSeries(panel, tuple(found for found in ledger.findings if found.series not in names), left_out)


def _panel(
    series: RegularSeries, opened: _Opened, contract: DataContract, *, horizon: int, schema: CovariateSchema | None
) -> Panel:
    ledger, table = opened.ledger, opened.table
    leave_whole_entities(ledger, num_channels=len(series.values))
    if _none_left(ledger):
        return _empty(opened)
    try:
        stepped = opened.stepped.going_on(ledger)
        stepped, laid = Laying(
            table=table,
            side=series.side(stepped, contract, horizon=horizon),
            ids=opened.ids,
            columns=contract.covariates,
            calendar=contract.calendar,
            on_irregular=contract.on_irregular,
            on_duplicate=contract.on_duplicate,
            horizon=horizon,
            schema=schema,
            future_fix=FUTURE_FIX,
        ).lay(stepped, ledger)
    except DataError:
        if not _none_left(ledger):
            raise
        return _empty(opened)
    return replace(
        stepped.panel(ledger.names, id_type=table.id_type),
        covariates=laid,
        channels=channels_of(opened.ids, stepped.rows.series[stepped.rows.starts], targets=table.columns.targets),
    )


def _none_left(ledger: Ledger) -> bool:
    return len(ledger.dropped.keys() | ledger.faults.keys()) == len(ledger.names)


def _empty(opened: _Opened) -> Panel:
    return Panel(
        ids=(),
        values=np.empty(0),
        observed=np.empty(0, dtype=bool),
        offsets=np.zeros(1, dtype=np.int64),
        axis=opened.stepped.axis.select([]),
        id_type=opened.table.id_type,
    )
