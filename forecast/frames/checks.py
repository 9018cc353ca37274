"""What makes a series unusable whatever the policies: unreadable stamps, infinite values, stamps off the steps."""

import numpy as np
import polars as pl

from forecast.errors import FrequencyError, MissingValues, WrongType
from forecast.frames.frequency import Frequency
from forecast.frames.grid import Grid, lay_out
from forecast.frames.infer import infer_calendar
from forecast.frames.ledger import Ledger
from forecast.frames.rows import Rows

TELLING_STEPS = 3
"""A series that steps evenly this often, more coarsely than the frame, has a frequency of its own, not gaps."""


def refuse_unreadable_stamps(
    rows: Rows, ledger: Ledger, *, stamps: pl.Series, zone: str | None, time_format: str | None = None
) -> None:
    """Put series at fault that have rows without a stamp, or with one that cannot be read."""
    unread = rows.moments.is_null().to_numpy()
    if not unread.any():
        return
    column = ledger.columns.time
    absent = unread & stamps.is_null().to_numpy()[rows.numbers]
    fix = "give every row its stamp, or drop these rows"
    ledger.refuse(ledger.groups(rows, absent), MissingValues, column=column, what="rows without a stamp", fix=fix)
    if isinstance(stamps.dtype, pl.Datetime):
        what, fix = f"local times that the clock of {zone!r} skips", "correct them, or name the zone they are local to"
    else:
        like = time_format or stamps.drop_nulls().first()
        what, fix = f"stamps not written like {like!r}", "write all alike, in ISO 8601 or as time_format says"
    ledger.refuse(ledger.groups(rows, unread & ~absent), WrongType, column=column, what=what, fix=fix)


def refuse_infinite_values(rows: Rows, ledger: Ledger) -> None:
    """Put series at fault whose target is infinite somewhere."""
    groups = ledger.groups(rows, np.isinf(rows.values))
    fix = "replace them by real values, or by null where nothing is known"
    ledger.refuse(groups, MissingValues, column=ledger.columns.target_text, what="infinite values", fix=fix)


def refuse_strays(rows: Rows, grid: Grid, ledger: Ledger, *, frequency: Frequency) -> None:
    """Put series at fault that have stamps between the steps of the frequency.

    A series whose stamps are all on the steps of a frequency of its own is told which; others have single strays.
    """
    for group in ledger.groups(rows, ~grid.fits):
        of_series = _rows_of(rows, group.series)
        own = infer_calendar(of_series)
        steady = own is not None and len(of_series.series) > TELLING_STEPS and lay_out(of_series, own).fits.all()
        if own is None or own.text == frequency.text or not steady:
            what = f"stamps that are not on the steps of {frequency.text!r}"
            fix = "correct or drop them, or give the frequency and set on_irregular='nearest' to move each to a step"
        else:
            what = f"stamps that step by {own.text!r} where the frame steps by {frequency.text!r}"
            fix = f"send the series apart, or give frequency={own.text!r} if the others are meant to have gaps"
        ledger.refuse([group], FrequencyError, column=ledger.columns.time, what=what, fix=fix)


def refuse_coarser_series(rows: Rows, grid: Grid, ledger: Ledger, *, frequency: Frequency) -> None:
    """Put series at fault that step evenly but more coarsely than the frame, where no frequency was given.

    Read as gaps, all but every n-th of their steps would be unobserved.
    """
    jumps = np.diff(grid.steps, prepend=0)
    jumps[rows.starts] = 0  # the first row of a series has no row before it, a repeated step no distance
    least = np.minimum.reduceat(np.where(jumps > 0, jumps, np.iinfo(np.int64).max), rows.starts)
    most = np.maximum.reduceat(jumps, rows.starts)
    num_jumps = np.add.reduceat((jumps > 0).astype(np.int64), rows.starts)
    coarse = (num_jumps >= TELLING_STEPS) & (least == most) & (most > 1)
    if not coarse.any():
        return
    for group in ledger.groups(rows, coarse[rows.group]):
        own = _own_frequency(rows, group.series)
        ledger.refuse(
            [group],
            FrequencyError,
            column=ledger.columns.time,
            what=f"stamps that step by {own!r} where the frame steps by {frequency.text!r}",
            fix=f"send the series apart, or give frequency={frequency.text!r} to read the steps between as gaps",
        )


def _own_frequency(rows: Rows, series: int) -> str:
    calendar = infer_calendar(_rows_of(rows, series))
    return "nothing" if calendar is None else calendar.text


def _rows_of(rows: Rows, series: int) -> Rows:
    """Give the rows of one series, which lie together."""
    first, end = np.searchsorted(rows.series, [series, series + 1]).tolist()
    part = slice(first, end)
    return Rows(rows.series[part], rows.moments[part], rows.values[part], rows.numbers[part])
