"""Stamps beside the steps of the frequency, moved to a step by the caller's policy, and every move reported."""

from dataclasses import replace
from datetime import timedelta
from typing import Literal

import numpy as np
import polars as pl
from jaxtyping import Bool

from forecast.frames.calendar.base import Origins
from forecast.frames.calendar.instants import SECOND
from forecast.frames.clock import PER_SECOND, Places, places_of, stamps_at
from forecast.frames.frequency import Frequency
from forecast.frames.grid import lay_out
from forecast.frames.ledger import Ledger
from forecast.frames.rows import Rows
from forecast.frames.settle import check_clock
from forecast.frames.time import StampType, TimeAxis

OnIrregular = Literal["refuse", "nearest", "floor"]

NEIGHBOURS = (-1, 0, 1)
"""Steps that may be the nearest to a stamp, counted from the one that it lies in."""


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
    stamps = _nearest(rows, axis) if policy == "nearest" else _own(rows, axis)
    _note(rows, ledger, stamps, policy=policy, text=frequency.text)
    return replace(rows, moments=stamps)


def _own(rows: Rows, axis: TimeAxis) -> pl.Series:
    return axis.moments_at(rows.group, steps=axis.steps_at(rows.group, moments=rows.moments))


def _nearest(rows: Rows, axis: TimeAxis) -> pl.Series:
    own = axis.steps_at(rows.group, moments=rows.moments)
    stamps = [axis.moments_at(rows.group, steps=own + beside) for beside in NEIGHBOURS]
    ticks = np.stack([candidate.to_physical().to_numpy() for candidate in stamps])
    nearest = np.abs(ticks - rows.moments.to_physical().to_numpy()).argmin(axis=0)
    return axis.moments_at(rows.group, steps=own + np.array(NEIGHBOURS)[nearest])


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


def _note(rows: Rows, ledger: Ledger, stamps: pl.Series, *, policy: OnIrregular, text: str) -> None:
    shifts = np.abs((stamps.to_physical() - rows.moments.to_physical()).to_numpy())
    groups = ledger.groups(rows, shifts > 0)
    furthest = np.maximum.reduceat(shifts, rows.starts)
    furthest = dict(zip(rows.series[rows.starts].tolist(), furthest.tolist(), strict=True))
    for group in groups:
        shift = _span(furthest[group.series], rows.moments.dtype)
        what = f"stamps beside the steps of {text!r}, the furthest by {shift}"
        action = "moved to the nearest step" if policy == "nearest" else "moved to the step that each lies in"
        ledger.note([group], "irregular", column=ledger.columns.time, what=what, action=action)


def _span(ticks: int, dtype: pl.DataType) -> str:
    if not isinstance(dtype, pl.Datetime):
        return str(ticks)
    return str(timedelta(microseconds=ticks * (SECOND // PER_SECOND[dtype.time_unit]) / 1000))
