"""What the caller decides about each series: duplicates, gaps, missing values and short series."""

from dataclasses import replace
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float64

from forecast.errors import DuplicateSteps, GapFound, MissingValues, SeriesTooShort
from forecast.frames.columns import ONLY_SERIES
from forecast.frames.gaps import absent_steps
from forecast.frames.ledger import Ledger
from forecast.frames.rows import Rows
from forecast.frames.stepped import Stepped

OnDuplicate = Literal["refuse", "first", "last", "mean"]
OnGap = Literal["fill", "refuse"]
OnMissing = Literal["mask", "refuse"]
OnShort = Literal["keep", "drop", "refuse"]


def merge_duplicates(stepped: Stepped, ledger: Ledger, *, policy: OnDuplicate) -> Stepped:
    """Leave one row a step, or put the series at fault."""
    rows = stepped.rows
    repeats = (np.diff(rows.series, prepend=-1) == 0) & (np.diff(stepped.steps, prepend=0) == 0)
    if not repeats.any():
        return stepped
    groups, column, what = ledger.groups(rows, repeats), ledger.columns.time, "rows for a step that has one already"
    if policy == "refuse":
        fix = "remove them, or set on_duplicate to 'first', 'last' or 'mean'"
        if ledger.names == (ONLY_SERIES,):
            fix += "; where they belong to several series, name the id column: columns.id"
        ledger.refuse(groups, DuplicateSteps, column=column, what=what, fix=fix)
        return stepped.going_on(ledger)
    ledger.note(groups, "duplicates", column=column, what=what, action=f"merged by {policy!r}")
    if policy == "mean":
        rows = replace(rows, values=_means(rows.values, repeats))
    followed = np.append(repeats[1:], False)
    return stepped.with_rows(rows.keep(~followed if policy == "last" else ~repeats))


def judge_gaps(stepped: Stepped, ledger: Ledger, *, policy: OnGap) -> None:
    """Report the steps inside each series that have no row, or put the series at fault.

    Of local times without a zone of their own, the second pass through an hour that comes twice is no gap.
    """
    absent = absent_steps(stepped)
    column = ledger.columns.time
    if policy == "refuse":
        fix = "add the rows, or set on_gap='fill' to treat the steps as unobserved"
        ledger.refuse(absent.gaps, GapFound, column=column, what="absent steps", fix=fix)
    else:
        ledger.note(absent.gaps, "gaps", column=column, what="absent steps", action="filled as unobserved")
    what = "absent steps in an hour that comes twice"
    ledger.note(absent.second_passes, "clock_change", column=column, what=what, action="filled as unobserved")


def judge_missing(rows: Rows, ledger: Ledger, *, policy: OnMissing) -> None:
    """Report rows without a target value, or put the series at fault."""
    groups = ledger.groups(rows, np.isnan(rows.values))
    column = ledger.columns.target_text
    if policy == "refuse":
        fix = "fill or drop them, or set on_missing='mask' to treat them as unobserved"
        ledger.refuse(groups, MissingValues, column=column, what="missing values", fix=fix)
    else:
        ledger.note(groups, "missing", column=column, what="missing values", action="masked as unobserved")


def judge_short(stepped: Stepped, ledger: Ledger, *, policy: OnShort, min_length: int) -> None:
    """Report series of fewer steps than `min_length`, leave them out, or put them at fault."""
    firsts = np.zeros(len(stepped.rows.series), dtype=bool)
    firsts[stepped.rows.starts] = stepped.lengths < min_length
    lengths = stepped.lengths[stepped.lengths < min_length].tolist()
    groups = [
        replace(group, count=length) for group, length in zip(ledger.groups(stepped.rows, firsts), lengths, strict=True)
    ]
    what, column = f"steps where {min_length} are needed", ledger.columns.time
    match policy:
        case "keep":
            ledger.note(groups, "short", column=column, what=what, action="kept")
        case "drop":
            fix = "send more history, or set on_short='keep'"
            ledger.drop(groups, SeriesTooShort, column=column, what=what, fix=fix)
        case "refuse":
            fix = "send more history, or set on_short to 'keep' or 'drop'"
            ledger.refuse(groups, SeriesTooShort, column=column, what=what, fix=fix)


def note_constant(rows: Rows, ledger: Ledger) -> None:
    """Report series whose values, two or more, are all the same."""
    constant = np.fmin.reduceat(rows.values, rows.starts) == np.fmax.reduceat(rows.values, rows.starts)
    groups = ledger.groups(rows, constant[rows.group] & ~np.isnan(rows.values))
    repeated = [group for group in groups if group.count > 1]
    ledger.note(
        repeated, "constant", column=ledger.columns.target_text, what="values that are all the same", action="kept"
    )


def _means(values: Float64[np.ndarray, " row"], repeats: Bool[np.ndarray, " row"]) -> Float64[np.ndarray, " row"]:
    """Give each row the mean of the observed values of its step; NaN where there is none."""
    step = np.cumsum(~repeats) - 1
    observed = ~np.isnan(values)
    sums = np.bincount(step, weights=np.where(observed, values, 0.0))
    counts = np.bincount(step, weights=observed)
    return np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)[step]
