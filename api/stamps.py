"""The stamps of a request: ISO 8601 or integers in, the same spelling out for every step forecast."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl
from jaxtyping import Int64

from api.errors import Refused, invalid
from api.schemas import SeriesFault
from forecast.frames.regular import FIRST_YEAR, LAST_YEAR
from forecast.frames.time import TimeAxis

ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}(?P<time>[T ]\d{2}:\d{2}(?::\d{2}(?:[.]\d{1,6})?)?(?P<offset>Z|[+-]\d{2}:\d{2})?)?", re.ASCII
)

FARTHEST_INTEGER = 2**53
"""Beyond it JSON's readers no longer tell integers apart."""

MICROSECONDS = pl.Datetime("us")

POINTER = "/series/start"


@dataclass(frozen=True, eq=False)
class Starts:
    """The first stamp of each series of a request."""

    moments: pl.Series
    """Int64, or Datetime: naive, on the clock of each series' own offset, or in the zone asked for; null at a fault."""

    offsets: tuple[str, ...]
    """What each series' stamps end with: `Z`, an offset like `+01:00`, or nothing."""

    are_dates: tuple[bool, ...]
    """True for each series whose start has no time of day."""

    faults: dict[int, SeriesFault]
    """The starts that cannot be read, by the number of their series."""

    @property
    def zone(self) -> str | None:
        """The zone that all stamps are in; None for integers and where several offsets occur."""
        dtype = self.moments.dtype
        if not isinstance(dtype, pl.Datetime):
            return None
        if dtype.time_zone is not None:
            return dtype.time_zone
        found = {"UTC" if offset in ("", "Z", "+00:00") else offset for offset in self.offsets}
        return found.pop() if len(found) == 1 else None

    def write(
        self,
        axis: TimeAxis,
        *,
        series: Int64[np.ndarray, " step"],
        numbers: Int64[np.ndarray, " step"],
        steps: Int64[np.ndarray, " step"],
    ) -> list[str] | list[int]:
        """Write a step a row as the request wrote its start; `series` counts in the request, `numbers` in the axis."""
        moments = axis.moments_at(numbers, steps=steps)
        if moments.dtype == pl.Int64:
            return moments.to_list()
        if axis.zone is not None:
            texts = moments.dt.to_string("%Y-%m-%dT%H:%M:%S%.f%:z")
        else:
            texts = moments.dt.to_string("%Y-%m-%dT%H:%M:%S%.f") + pl.Series(self.offsets).gather(series)
        if axis.frequency.calendar.clock == "local" and any(self.are_dates):
            dates = pl.Series(self.are_dates).gather(series)
            texts = moments.dt.to_string("%Y-%m-%d").zip_with(dates, texts)
        return texts.to_list()


def read_starts(starts: Sequence[int | str], *, zone: str | None) -> Starts:
    """Read the starts of a request; those that cannot be read are listed as faults.

    Raises:
        Refused: integers and stamps are mixed, or stamps with an offset and without; or the zone is unknown or unused.
    """
    kinds = {type(start) for start in starts}
    if kinds == {int}:
        return _read_integers(starts, zone=zone)
    if kinds == {str}:
        return _read_texts([str(start) for start in starts], zone=zone)
    raise invalid(POINTER, "mixed_starts", "all starts must be ISO 8601 stamps, or all integers")


def _read_integers(starts: Sequence[int | str], *, zone: str | None) -> Starts:
    if zone is not None:
        raise invalid("/zone", "unused_zone", "integers have no time zone; leave the zone out")
    far = [abs(int(start)) > FARTHEST_INTEGER for start in starts]
    what = "must lie within 2**53 of zero"
    faults = {number: _fault(number, "start_range", what) for number, is_far in enumerate(far) if is_far}
    near = [None if is_far else start for start, is_far in zip(starts, far, strict=True)]
    moments = pl.Series(near, dtype=pl.Int64)
    return Starts(moments, ("",) * len(starts), (False,) * len(starts), faults)


def _read_texts(starts: Sequence[str], *, zone: str | None) -> Starts:
    faults: dict[int, SeriesFault] = {}
    stamps = [_read_stamp(text, number, faults) for number, text in enumerate(starts)]
    aware = {stamp.tzinfo is not None for stamp in stamps if stamp is not None}
    if len(aware) > 1:
        raise invalid(POINTER, "mixed_offsets", "give all starts an offset from UTC, or none of them")
    moments = _local(stamps) if zone is None else _in_zone(stamps, zone, faults, aware=True in aware)
    offsets = tuple((found["offset"] or "") if (found := ISO.fullmatch(text)) else "" for text in starts)
    are_dates = tuple(len(text) == len("2026-11-01") for text in starts)
    return Starts(moments, offsets, are_dates, faults)


def _read_stamp(text: str, number: int, faults: dict[int, SeriesFault]) -> datetime | None:
    try:
        stamp = datetime.fromisoformat(text) if ISO.fullmatch(text) else None
    except ValueError:  # a month 13, an hour 25
        stamp = None
    if stamp is None:
        what = "must be ISO 8601, like 2026-11-01 or 2026-11-01T18:00:00+01:00, and no finer than microseconds"
        faults[number] = _fault(number, "start_format", what)
    elif not FIRST_YEAR < stamp.year < LAST_YEAR:
        what = f"must lie after the year {FIRST_YEAR} and before {LAST_YEAR}"
        faults[number] = _fault(number, "start_range", what)
        return None
    return stamp


def _local(stamps: Sequence[datetime | None]) -> pl.Series:
    """Give the reading of each stamp's own clock: with a fixed offset, all steps are the same on it as on any other."""
    return pl.Series([stamp and stamp.replace(tzinfo=None) for stamp in stamps], dtype=MICROSECONDS)


def _in_zone(stamps: Sequence[datetime | None], zone: str, faults: dict[int, SeriesFault], *, aware: bool) -> pl.Series:
    try:
        if aware:
            utc = pl.Series(stamps, dtype=pl.Datetime("us", "UTC"))
            return utc.dt.convert_time_zone(zone)
        moments = _local(stamps).dt.replace_time_zone(zone, ambiguous="null", non_existent="null")
    except pl.exceptions.PolarsError:
        raise _unknown_zone() from None
    for number in moments.is_null().arg_true().to_list():
        what = f"is skipped, or comes twice, on the clock of {zone}; give it its offset from UTC"
        faults.setdefault(number, _fault(number, "start_ambiguous", what))
    return moments


def _unknown_zone() -> Refused:
    return invalid("/zone", "unknown_zone", "no time zone of this name is known; write one like Europe/Berlin or UTC")


def _fault(number: int, code: str, message: str) -> SeriesFault:
    return SeriesFault(pointer=f"{POINTER}/{number}", code=code, message=f"the start {message}", field="start")
