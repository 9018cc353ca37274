"""A second frame, of covariates alone, whose rows are found by id and time beside those of the series."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Bool, Int64

from forecast.errors import DuplicateSteps, WrongType
from forecast.frames.columns import Columns
from forecast.frames.door import Table, read_side_table
from forecast.frames.ids import SeriesIds, read_ids
from forecast.frames.irregular import OnIrregular, move_to_steps, note_moves
from forecast.frames.ledger import Ledger
from forecast.frames.policies import OnDuplicate
from forecast.frames.report import Finding
from forecast.frames.rows import Group, stamp_text
from forecast.frames.stamps import read_stamps
from forecast.frames.stepped import Stepped


@dataclass(frozen=True, eq=False)
class SideRows:
    """The rows of a second frame, as read."""

    table: Table
    owners: Int64[np.ndarray, " row"] | None
    """The number of each row's series in `names`; None where the frame has no id column and is about every series."""

    names: tuple[str | int, ...]
    moments: pl.Series

    @classmethod
    def read(
        cls, frame: Any, columns: Columns, *, covariates: Sequence[str], zone: str | None, time_format: str | None
    ) -> "SideRows":
        """Read a frame of covariates.

        Raises:
            DataError: a column is absent, ambiguous or of a wrong type; or a row has no id or no readable stamp.
        """
        table = read_side_table(frame, columns, covariates=covariates)
        ids = read_ids(table.ids) if len(table.ids) else SeriesIds((), np.empty(0, dtype=np.int64))
        times = table.times if len(table.times) else table.times.cast(pl.Int64)
        stamps = read_stamps(times, column=table.time_type, zone=zone, series=ids.series, time_format=time_format)
        if unread := stamps.moments.null_count():
            row = int(stamps.moments.is_null().arg_max() or 0)
            raise WrongType(
                f"column {times.name!r} of the covariates has {unread:,} rows without a readable stamp, the first is "
                f"row {row}; give every row its stamp, written like the others",
                field=times.name,
            )
        return cls(table, ids.series if table.has_ids else None, ids.names, stamps.moments)


@dataclass(frozen=True, eq=False)
class Beside:
    """Rows of a second frame on the steps of the series: one a series and step."""

    table: Table
    group: Int64[np.ndarray, " row"]
    """The place of each row's series (of the first channel's) among those that go on."""

    steps: Int64[np.ndarray, " row"]
    numbers: Int64[np.ndarray, " row"]
    """The row's place in the second frame."""

    def keep(self, chosen: Bool[np.ndarray, " row"]) -> "Beside":
        """Give the chosen rows."""
        return Beside(self.table, self.group[chosen], self.steps[chosen], self.numbers[chosen])


def lay_beside(
    side: SideRows,
    stepped: Stepped,
    ledger: Ledger,
    *,
    entities: tuple[str | int, ...],
    num_channels: int,
    horizon: int,
    on_irregular: OnIrregular,
    on_duplicate: OnDuplicate,
) -> Beside:
    """Find the step of every row; rows that are of no step of any series are dropped with a notice.

    `entities` are the ids of the series of `stepped`, in their order, one for each `num_channels`. Rows beside the
    steps are moved to one and reported where the policy says so. Series for which a row comes twice, maybe by a move,
    are put at fault unless the policy says which row counts.

    Raises:
        WrongType: ids or stamps are of another type than the series'.
    """
    owner, numbers = _owners(side, entities, ledger)
    group = owner * num_channels
    moments = _as_stamped(side, stepped).gather(numbers)
    moved = move_to_steps(stepped.axis, group, moments=moments, policy=on_irregular)
    steps = moved.steps
    on_step = (moved.shifts == 0) | (on_irregular != "refuse")
    reach = stepped.lengths[group] + horizon
    within = on_step & (steps >= 0) & (steps < reach)
    laid = Beside(side.table, group[within], steps[within], numbers[within])
    unused = {
        "are not on a step of their series": ~on_step,
        "lie before the start of their series": on_step & (steps < 0),
        "lie past the horizon": on_step & (steps >= reach) & (horizon > 0),
    }
    for where, chosen in unused.items():
        # A row of a frame without ids is about every series: it is unused only where none of them has its step.
        _note(ledger, side, np.setdiff1d(numbers[chosen], laid.numbers), what=f"rows of covariates {where}")
    ticks = moments.to_physical().to_numpy()[within]
    _note_moves(laid, stepped, ledger, ticks=ticks, shifts=moved.shifts[within], policy=on_irregular)
    return _each_step_once(laid, stepped, ledger, ticks=ticks, policy=on_duplicate)


def _owners(
    side: SideRows, entities: tuple[str | int, ...], ledger: Ledger
) -> tuple[Int64[np.ndarray, " row"], Int64[np.ndarray, " row"]]:
    """Give the entity and the number of each row, once for each entity that it is about."""
    if side.owners is None:
        num_rows = len(side.moments)
        return np.repeat(np.arange(len(entities)), num_rows), np.tile(np.arange(num_rows), len(entities))
    if side.names and type(side.names[0]) is not type(entities[0]):
        raise WrongType(
            f"the ids of the covariates are {type(side.names[0]).__name__} and those of the series are "
            f"{type(entities[0]).__name__}; write both alike",
            field=side.table.columns.id,
        )
    places = {name: place for place, name in enumerate(entities)}
    of_name = np.array([places.get(name, -1) for name in side.names], dtype=np.int64)
    group = of_name[side.owners] if len(side.owners) else np.empty(0, dtype=np.int64)
    _note(ledger, side, np.flatnonzero(group < 0), what="rows of covariates are of series that are not here")
    numbers = np.flatnonzero(group >= 0)
    return group[numbers], numbers


def _as_stamped(side: SideRows, stepped: Stepped) -> pl.Series:
    """Give the moments in the type that the series' are computed in."""
    wanted, found = stepped.axis.stamp_type.dtype, side.moments.dtype
    if not len(side.moments):
        return pl.Series([], dtype=wanted)
    if isinstance(wanted, pl.Datetime) and isinstance(found, pl.Datetime):
        if wanted.time_zone and found.time_zone:
            return side.moments.dt.convert_time_zone(wanted.time_zone).dt.cast_time_unit(wanted.time_unit)
        if wanted.time_zone == found.time_zone:
            return side.moments.dt.cast_time_unit(wanted.time_unit)
    elif wanted == found:
        return side.moments
    raise WrongType(
        f"the stamps of the covariates are {found} and those of the series {wanted}; write both alike, with a zone or "
        f"without",
        field=side.table.columns.time,
    )


def _note_moves(
    laid: Beside,
    stepped: Stepped,
    ledger: Ledger,
    *,
    ticks: Int64[np.ndarray, " row"],
    shifts: Int64[np.ndarray, " row"],
    policy: OnIrregular,
) -> None:
    """Report the rows that were moved, a series at a time; `ticks` say where they were."""
    places = np.flatnonzero(shifts)
    if not len(places):
        return
    places = places[np.lexsort((ticks[places], laid.group[places]))]
    owners, first, counts = np.unique(laid.group[places], return_index=True, return_counts=True)
    stamps = map(stamp_text, laid.table.times[laid.numbers[places[first]]])
    known = zip(stepped.rows.series[stepped.rows.starts[owners]].tolist(), stamps, counts.tolist(), strict=True)
    found = zip((Group(*one) for one in known), np.maximum.reduceat(shifts[places], first).tolist(), strict=True)
    column, what = laid.table.columns.time, "rows of covariates"
    note_moves(found, ledger, axis=stepped.axis, policy=policy, column=column, what=what)


def _each_step_once(
    laid: Beside, stepped: Stepped, ledger: Ledger, *, ticks: Int64[np.ndarray, " row"], policy: OnDuplicate
) -> Beside:
    """Leave one row a step; of rows that were moved to it the first is the earliest, as it is in the first frame."""
    sign = -1 if policy == "last" else 1
    order = np.lexsort((sign * laid.numbers, sign * ticks, laid.steps, laid.group))
    laid = Beside(laid.table, laid.group[order], laid.steps[order], laid.numbers[order])
    repeats = (np.diff(laid.group, prepend=-1) == 0) & (np.diff(laid.steps, prepend=-1) == 0)
    if not repeats.any():
        return laid
    places = np.flatnonzero(repeats)
    owners, first, counts = np.unique(laid.group[places], return_index=True, return_counts=True)
    stamps = stepped.axis.stamps_at(owners, steps=laid.steps[places[first]])
    for owner, stamp, count in zip(owners.tolist(), stamps, counts.tolist(), strict=True):
        number, first = int(stepped.rows.series[stepped.rows.starts[owner]]), stamp_text(stamp)
        name, column = ledger.names[number], laid.table.columns.time
        what = f"{count:,} rows of covariates for a step that has one already, the first at {first}"
        if policy == "refuse":
            fix = "remove them, or set on_duplicate to 'first' or 'last'"
            message = f"series {name!r}: {what}; {fix}"
            ledger.faults.setdefault(number, DuplicateSteps(message, series=str(name), field=column))
        else:
            kept = "the last kept" if policy == "last" else "the first kept"
            found = Finding("duplicates", what, kept, count, series=name, column=column, first_stamp=first)
            ledger.findings.append(found)
    return laid.keep(~repeats)


def _note(ledger: Ledger, side: SideRows, numbers: Int64[np.ndarray, " row"], *, what: str) -> None:
    if len(numbers):
        count, row = len(numbers), int(side.moments.gather(numbers).arg_min() or 0)
        first = stamp_text(side.table.times[int(numbers[row])])
        message = f"{count:,} {what}, the first at {first}"
        ledger.findings.append(Finding("unused_covariates", message, "not used", count=count, first_stamp=first))
