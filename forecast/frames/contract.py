"""The data contract: one entry from a frame of any kind to a panel, with a report of what was found and done."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, Self

import numpy as np
import polars as pl
from pydantic import AfterValidator, Field, model_validator

from forecast.config import config
from forecast.errors import DataError
from forecast.frames.beside import SideRows
from forecast.frames.channels import channels_of, spread_channels
from forecast.frames.checks import (
    refuse_coarser_series,
    refuse_infinite_values,
    refuse_strays,
    refuse_unreadable_stamps,
)
from forecast.frames.column_type import Kind
from forecast.frames.columns import Columns
from forecast.frames.covariate_columns import CovariateColumns, check_present
from forecast.frames.covariates import Covariates, CovariateSchema
from forecast.frames.door import Table, kind_of, read_table
from forecast.frames.features import CalendarFeature
from forecast.frames.ids import SeriesIds, read_ids
from forecast.frames.irregular import OnIrregular, move_strays
from forecast.frames.laying import Laying, check_calendar
from forecast.frames.ledger import Ledger
from forecast.frames.panel import Panel
from forecast.frames.policies import (
    OnDuplicate,
    OnGap,
    OnMissing,
    OnShort,
    judge_gaps,
    judge_missing,
    judge_short,
    merge_duplicates,
    note_constant,
)
from forecast.frames.report import Finding, Report
from forecast.frames.rows import Rows, stamp_text
from forecast.frames.settle import settle_frequency
from forecast.frames.stamps import Stamps, read_stamps
from forecast.frames.stepped import Stepped
from forecast.frames.targets import read_targets
from forecast.frames.text_time import known_pattern
from forecast.frames.weights import lay_weights
from forecast.frames.zones import known_zone

OnBadSeries = Literal["raise", "leave_out"]
"""What becomes of series at fault: the first one raises, or all are left out and listed."""


@config
class DataContract:
    """What a frame must hold, and what is done where it does not. No default loses data silently."""

    columns: Columns = field(default_factory=Columns)
    """The names of the columns; common aliases are found where a default name is absent."""

    frequency: str | int | None = None
    """The step between stamps, as pandas or polars spell it; read from the stamps where it is None.

    Brackets say which days and hours are worked: `B[DE]` (with the holidays of a country), `h[mon-fri, 09:00-17:30]`.
    """

    zone: Annotated[str, AfterValidator(known_zone)] | None = None
    """The zone in which stamps that carry none are local time; None counts them as they stand.

    Of an hour that comes twice, a series' first row is the first pass and its second row the second pass.
    """

    time_format: Annotated[str, AfterValidator(known_pattern)] | None = None
    """How stamps that are text are written, in the letters of strftime (`%d/%m/%Y`); None reads ISO 8601."""

    on_irregular: OnIrregular = "refuse"
    """Stamps beside the steps of the frequency: refuse the series, or move each to the nearest step or to the one that
    it lies in, and report the moves. Moving needs the `frequency`. Rows of a second frame are moved by the same rule to
    the steps of their series; where the series would be refused, they are left out and reported."""

    on_duplicate: OnDuplicate = "refuse"
    """Rows that share series and step: refuse the series, or keep the first, the last or the mean of the step."""

    on_gap: OnGap = "fill"
    """Steps inside a series that have no row: fill them as unobserved and report them, or refuse the series."""

    on_missing: OnMissing = "mask"
    """Rows without a target value: mask them as unobserved and report them, or refuse the series."""

    on_short: OnShort = "keep"
    """Series of fewer than `min_length` steps: keep and report them, leave them out and report them, or refuse them."""

    min_length: Annotated[int, Field(ge=1)] = 2
    """Steps below which a series is short."""

    covariates: CovariateColumns = CovariateColumns()
    """The columns that are known beside the target, by role."""

    calendar: tuple[CalendarFeature, ...] = ()
    """Covariates that are made from the stamps, in the zone in which days are counted, and so are known ahead."""

    @model_validator(mode="after")
    def _steps_to_move_to(self) -> Self:
        if self.on_irregular != "refuse" and self.frequency is None:
            raise ValueError(
                f"on_irregular is {self.on_irregular!r}, which moves stamps to the steps of a frequency, and none is "
                f"given; set the frequency, for example '30min'"
            )
        return self


@dataclass(frozen=True, eq=False)
class Prepared:
    """A frame that has passed the contract."""

    panel: Panel
    report: Report
    left_out: dict[str | int, DataError]
    """Series that do not go on, by id, with what is wrong with each."""

    columns: Columns
    """The names under which the columns were found."""

    like: Kind
    """The library of the frame."""

    types: Mapping[str, pl.DataType] = field(default_factory=dict)
    """The types in which targets and covariates came, by column."""


def prepare(
    frame: Any,
    contract: DataContract | None = None,
    *,
    covariates: Any = None,
    horizon: int = 0,
    schema: CovariateSchema | None = None,
    on_bad_series: OnBadSeries = "raise",
) -> Prepared:
    """Read a frame of pandas, polars (also lazy) or pyarrow into a panel.

    `covariates` is a second frame with covariates by id and time (or by time alone, for all series): of the history, of
    the `horizon` steps after each series' end, or both; where the first frame has the column too, its rows count.
    `schema` is what a model has learnt of the covariates; it is read from the frames where there is none.

    A fault of the whole frame raises. Series at fault raise too, or are left out and listed where `on_bad_series` is
    "leave_out" and at least one series goes on.

    Raises:
        DataError: its class says what is wrong, its message names series, column, first stamp, count and fix.
        ConfigError: the contract makes other calendar features than those of `schema`.
    """
    contract = contract or DataContract()
    table = read_table(frame, contract.columns, covariates=contract.covariates.names)
    side = _read_side(covariates, contract, table)
    ids = read_ids(table.ids)
    stamps = _read_stamps(table, ids, contract)
    targets, converted = read_targets(table)
    spread = spread_channels(ids, times=table.times, moments=stamps.moments, targets=table.columns.targets)
    ledger = Ledger(spread.names, spread.times, table.columns)
    ledger.findings += [*_ignored(table), *converted, *stamps.findings]
    rows = Rows.sort(series=spread.series, moments=spread.moments, targets=targets)
    stepped = _step(rows, ledger, contract, stamps, table)
    check_calendar(contract.calendar, schema, frequency=stepped.axis.frequency)
    stepped = _judge(stepped, ledger, contract)
    stepped, laid = Laying(
        table=table,
        side=side,
        ids=ids,
        columns=contract.covariates,
        calendar=contract.calendar,
        on_irregular=contract.on_irregular,
        on_duplicate=contract.on_duplicate,
        horizon=horizon,
        schema=schema,
    ).lay(stepped, ledger)
    if on_bad_series == "raise" and ledger.faults:
        raise ledger.first_fault()
    panel = _panel(stepped, table, ids, ledger, laid)
    report = _report(stepped, panel, ledger, table)
    parts = {**({} if side is None else side.table.parts), **table.parts}
    return Prepared(
        panel,
        report,
        left_out=ledger.left_out(),
        columns=table.columns,
        like=kind_of(frame),
        types={name: cells.dtype for name, cells in parts.items()},
    )


def _read_stamps(table: Table, ids: SeriesIds, contract: DataContract) -> Stamps:
    return read_stamps(
        table.times,
        column=table.time_type,
        zone=contract.zone,
        series=ids.series,
        time_format=contract.time_format,
    )


def _panel(stepped: Stepped, table: Table, ids: SeriesIds, ledger: Ledger, laid: Covariates | None) -> Panel:
    return replace(
        stepped.panel(ledger.names, id_type=table.id_type),
        covariates=laid,
        weights=lay_weights(stepped, table),
        channels=channels_of(ids, stepped.rows.series[stepped.rows.starts], targets=table.columns.targets),
    )


def _read_side(covariates: Any, contract: DataContract, table: Table) -> SideRows | None:
    names = contract.covariates.names
    side = None
    if covariates is not None:
        side = SideRows.read(
            covariates, table.columns, covariates=names, zone=contract.zone, time_format=contract.time_format
        )
    there = (*table.parts, *(side.table.parts if side else ()))
    check_present(contract.covariates, present=there, frame_columns=(*there, *table.ignored))
    return side


def _step(rows: Rows, ledger: Ledger, contract: DataContract, stamps: Stamps, table: Table) -> Stepped:
    """Put the rows that can be read on the axes of their series."""
    _note_order(rows, ledger)
    refuse_unreadable_stamps(rows, ledger, stamps=table.times, zone=contract.zone, time_format=contract.time_format)
    refuse_infinite_values(rows, ledger)
    rows = move_strays(
        ledger.going_on(rows),
        ledger,
        given=contract.frequency,
        policy=contract.on_irregular,
        stamp_type=stamps.stamp_type,
    )
    frequency, grid = settle_frequency(rows, contract.frequency, stamp_type=stamps.stamp_type)
    refuse_strays(rows, grid, ledger, frequency=frequency)
    if contract.frequency is None:
        refuse_coarser_series(rows, grid, ledger, frequency=frequency)
    return Stepped.lay_out(ledger.going_on(rows), frequency=frequency, stamp_type=stamps.stamp_type)


def _judge(stepped: Stepped, ledger: Ledger, contract: DataContract) -> Stepped:
    """Apply the caller's policies."""
    stepped = merge_duplicates(stepped, ledger, policy=contract.on_duplicate).refuse_sparse(ledger)
    judge_gaps(stepped, ledger, policy=contract.on_gap)
    judge_missing(stepped.rows, ledger, policy=contract.on_missing)
    judge_short(stepped, ledger, policy=contract.on_short, min_length=contract.min_length)
    note_constant(stepped.rows, ledger)
    return stepped.going_on(ledger)


def _ignored(table: Table) -> list[Finding]:
    if not table.ignored:
        return []
    names = ", ".join(map(repr, table.ignored))
    return [Finding("ignored_columns", f"further columns: {names}", "not read", count=len(table.ignored))]


def _note_order(rows: Rows, ledger: Ledger) -> None:
    count = int(((np.diff(rows.series) == 0) & (np.diff(rows.numbers) < 0)).sum())
    if count:
        message = f"{count:,} rows come after a later row of their series"
        ledger.findings.append(Finding("reordered", message, "sorted by time", count=count, column=ledger.columns.time))


def _report(stepped: Stepped, panel: Panel, ledger: Ledger, table: Table) -> Report:
    rows = stepped.rows
    ends = [
        table.times[int(rows.numbers[place]) % len(table.times)]
        for place in (rows.moments.arg_min(), rows.moments.arg_max())
    ]
    left_out = ledger.left_out()
    kept = [finding for finding in ledger.findings if finding.series not in left_out]
    return Report(
        num_rows=len(table.times),
        num_series=len(panel),
        num_steps=int(panel.offsets[-1]),
        first_stamp=stamp_text(ends[0]),
        last_stamp=stamp_text(ends[1]),
        frequency=panel.axis.frequency.text,
        zone=panel.axis.zone,
        findings=(
            *kept,
            *(Finding("left_out", str(error), "left out", count=1, series=name) for name, error in left_out.items()),
        ),
    )
