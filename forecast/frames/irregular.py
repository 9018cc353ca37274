"""Stamps beside the steps of the frequency, moved to a step by the caller's policy, and every move reported."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

import numpy as np
import polars as pl
from jaxtyping import Bool, Int64

from forecast.frames.calendar.base import Origins
from forecast.frames.calendar.instants import SECOND
from forecast.frames.clock import PER_SECOND, Places, places_of, stamps_at
from forecast.frames.frequency import Frequency
from forecast.frames.grid import lay_out
from forecast.frames.ledger import Ledger
from forecast.frames.rows import Group, Rows
from forecast.frames.settle import check_clock
from forecast.frames.time import StampType, TimeAxis

OnIrregular = Literal["refuse", "nearest", "floor"]

NEIGHBOURS = (-1, 0, 1)
"""Steps that may be the nearest to a stamp, counted from the one that it lies in."""

ACTIONS: dict[OnIrregular, str] = {
    "nearest": "moved to the nearest step",
    "floor": "moved to the step that each lies in",
}
"""What a report says was done."""


@dataclass(frozen=True, eq=False)
class Moved:
    """Moments put on the steps of their series."""

    steps: Int64[np.ndarray, " row"]
    moments: pl.Series
    """Those of the steps."""

    shifts: Int64[np.ndarray, " row"]
    """By how much each was moved, in ticks of the moments' own unit; 0 where it was on a step."""


def move_to_steps(
    axis: TimeAxis, group: Int64[np.ndarray, " row"], *, moments: pl.Series, policy: OnIrregular
) -> Moved:
    """Put each moment on a step of its series: the nearest (of two as near the earlier), or else the one it lies in.

    Row `n` is of series `group[n]` of the axis. `moments` are of the type computed in, without nulls.
    """
    steps = axis.steps_at(group, moments=moments)
    ticks = moments.to_physical().to_numpy()
    found = axis.moments_at(group, steps=steps)
    strays = np.flatnonzero(found.to_physical().to_numpy() != ticks)
    if policy == "nearest" and len(strays):
        steps = steps.copy()
        steps[strays] += _nearest(axis, group[strays], ticks[strays], own=steps[strays])
        found = axis.moments_at(group, steps=steps)
    return Moved(steps, found, np.abs(found.to_physical().to_numpy() - ticks))


def move_strays(
    rows: Rows, ledger: Ledger, *, given: str | int | None, policy: OnIrregular, stamp_type: StampType
) -> Rows:
    """Move stamps beside the steps of the given frequency to the nearest, the earlier of two as near, or to their own.

    The steps of a series are those that most of its stamps share. Where no more than half share any, they are the round
    ones of the local clock: midnight, and whole steps after it.

    Raises:
        FrequencyError: the frequency spells nothing, or counts integers where the stamps are none, or the reverse.
    """
    if policy == "refuse" or given is None:
        return rows
    frequency = Frequency.parse(given)
    check_clock(frequency.calendar, stamp_type)
    grid = lay_out(rows, frequency.calendar)
    if grid.fits.all():
        return rows
    shared = 2 * np.add.reduceat(grid.fits.astype(np.int64), rows.starts) > np.diff(
        np.append(rows.starts, len(rows.series))
    )
    axis = TimeAxis(frequency, stamp_type, _choose(shared, grid.origins, _round_origins(rows, grid.origins, frequency)))
    moved = move_to_steps(axis, rows.group, moments=rows.moments, policy=policy)
    groups = ledger.groups(rows, moved.shifts > 0)
    furthest = dict(zip(rows.series[rows.starts].tolist(), np.maximum.reduceat(moved.shifts, rows.starts), strict=True))
    found = ((group, int(furthest[group.series])) for group in groups)
    note_moves(found, ledger, axis=axis, policy=policy, column=ledger.columns.time, what="stamps")
    return replace(rows, moments=moved.moments)


def _nearest(
    axis: TimeAxis,
    group: Int64[np.ndarray, " row"],
    ticks: Int64[np.ndarray, " row"],
    *,
    own: Int64[np.ndarray, " row"],
) -> Int64[np.ndarray, " row"]:
    """Give the nearest step, counted from the one that each moment lies in."""
    stamps = [axis.moments_at(group, steps=own + beside) for beside in NEIGHBOURS]
    there = np.stack([candidate.to_physical().to_numpy() for candidate in stamps])
    return np.array(NEIGHBOURS)[np.abs(there - ticks).argmin(axis=0)]


def _round_origins(rows: Rows, found: Origins, frequency: Frequency) -> Origins:
    clock, dtype = frequency.calendar.clock, rows.moments.dtype
    zeros = np.zeros_like(found.places)
    if clock == "count":
        return replace(found, places=zeros)
    days = places_of(rows.moments.gather(rows.starts), clock="local").places
    midnights = stamps_at(Places(days, zeros), clock="local", dtype=dtype)
    return replace(found, places=places_of(midnights, clock=clock).places, times_of_day=zeros)


def _choose(first: Bool[np.ndarray, " series"], one: Origins, other: Origins) -> Origins:
    return Origins(
        places=np.where(first, one.places, other.places),
        times_of_day=np.where(first, one.times_of_day, other.times_of_day),
        month_days=one.month_days,
    )


def note_moves(
    found: Iterable[tuple[Group, int]], ledger: Ledger, *, axis: TimeAxis, policy: OnIrregular, column: str, what: str
) -> None:
    """Report what was moved in each series, with the furthest shift in ticks."""
    for group, ticks in found:
        shift = _span(ticks, axis.stamp_type.dtype)
        moved = f"{what} beside the steps of {axis.frequency.text!r}, the furthest by {shift}"
        ledger.note([group], "irregular", column=column, what=moved, action=ACTIONS[policy])


def _span(ticks: int, dtype: pl.DataType) -> str:
    if not isinstance(dtype, pl.Datetime):
        return str(ticks)
    return str(timedelta(microseconds=ticks * (SECOND // PER_SECOND[dtype.time_unit]) / 1000))
