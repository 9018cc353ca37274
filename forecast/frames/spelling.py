"""Spellings of a frequency, text to calendar: pandas' offsets, old and new, polars' durations, and whole numbers."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from forecast.errors import FrequencyError
from forecast.frames.calendar.base import Calendar
from forecast.frames.calendar.brackets import ALL_DAY, EVERY_DAY, LOCAL, OFFICE_HOURS, Brackets, read_brackets
from forecast.frames.calendar.business import BusinessDays
from forecast.frames.calendar.days import WEEKDAYS, Days
from forecast.frames.calendar.fiscal import FiscalQuarters, FiscalYear, FiscalYears
from forecast.frames.calendar.instants import DAY, UNITS, Instants
from forecast.frames.calendar.integers import Integers
from forecast.frames.calendar.month_weeks import LAST, MonthWeeks
from forecast.frames.calendar.months import MONTHS, Anchor, Months
from forecast.frames.calendar.open_hours import TICK, OpenHours
from forecast.frames.calendar.semi_months import MIDDLE, SemiMonths
from forecast.frames.calendar.work_days import STANDARD, WorkDays

EXAMPLES = (
    "'h', '30min', 'D', 'B', 'W-MON', 'SMS', 'MS', 'ME', 'WOM-3FRI', 'QS-JAN', 'YE-DEC', 'bh', '1w', '1mo', "
    "'B[DE]' for business days with the holidays of a country, 'h[mon-fri, 09:00-17:30]' for hours of opening, "
    "or a whole number"
)

SPANS = UNITS | {
    "H": UNITS["h"],
    "T": UNITS["min"],
    "m": UNITS["min"],  # polars' minute; pandas' month is `M`
    "S": UNITS["s"],
    "L": UNITS["ms"],
    "U": UNITS["us"],
    "N": UNITS["ns"],
}
"""Nanoseconds in each unit of elapsed time, in every spelling."""

WHOLE_DAYS = {"D": 1, "d": 1, "w": 7}
"""Days in each unit of whole ones; beside units of elapsed time a day is 24 hours long."""

OWN_MONTHS = {"mo": 1, "q": 3, "y": 12}
"""Months in each of polars' units, which leave the day to the data."""

NO_BRACKETS = Brackets()

SHORTEST_LOCAL = 2 * UNITS["h"]  # where a clock goes forward by an hour, shorter steps would share a stamp

SPELT = re.compile(r"(?P<steps>[^\[\]]*)(?:\[(?P<brackets>[^\[\]]*)\])?")
WHOLE_NUMBER = re.compile(r"(?P<number>\d+)i?")  # polars writes an `i` behind the steps of an index
PIECES = re.compile(r"(?:\d*[A-Za-z]+)+")
PIECE = re.compile(r"(\d*)([A-Za-z]+)")
OFFSET = re.compile(r"(?P<count>\d*)(?P<unit>[A-Za-z]+)(?P<anchors>(?:-[A-Za-z0-9]+)*)")


@dataclass(frozen=True)
class Offset:
    """One offset as it is spelt."""

    count: int
    anchors: tuple[str, ...]
    """What follows the unit, in capitals: `FRI`, `3FRI`, `N`, `DEC`."""

    brackets: Brackets


Maker = Callable[[Offset], Calendar]
"""Raises ValueError for an anchor that the unit does not take."""


def parse_frequency(text: str) -> Calendar:
    """Give the calendar that a text spells.

    Raises:
        FrequencyError: the text spells no frequency that is known here.
    """
    spelt = SPELT.fullmatch(text.strip())
    if spelt is None:
        raise _unknown(text)
    steps = spelt["steps"].replace(" ", "")
    try:
        if spelt["brackets"] is None:
            return _plain(steps)
        return _in_brackets(steps, read_brackets(spelt["brackets"]))
    except ValueError:  # not a weekday, not a month, or an anchor on a unit that takes none
        raise _unknown(text) from None


def _unknown(text: str) -> FrequencyError:
    return FrequencyError(f"frequency {text!r} is not known; write for example {EXAMPLES}", field="frequency")


def _plain(steps: str) -> Calendar:
    if found := WHOLE_NUMBER.fullmatch(steps):
        return Integers(_positive(found["number"]))
    offset = OFFSET.fullmatch(steps)
    if offset and offset["unit"] in MAKERS:
        return MAKERS[offset["unit"]](_offset(offset))
    pieces = _pieces(steps)
    units = {unit for _, unit in pieces}
    if units <= set(OWN_MONTHS):
        return _own_months(sum(count * OWN_MONTHS[unit] for count, unit in pieces))
    if units <= set(WHOLE_DAYS):
        return Days(sum(count * WHOLE_DAYS[unit] for count, unit in pieces))
    return Instants(_span(pieces, SPANS | {unit: days * DAY for unit, days in WHOLE_DAYS.items()}))


def _in_brackets(steps: str, brackets: Brackets) -> Calendar:
    offset = OFFSET.fullmatch(steps)
    if offset and offset["unit"] in TAKE_BRACKETS:
        return MAKERS[offset["unit"]](_offset(offset, brackets))
    try:
        span = _span(_pieces(steps), SPANS)
    except ValueError:
        raise FrequencyError(
            f"brackets say nothing about {steps!r}; they may stand behind hours and parts of them, and behind business "
            f"days, months, quarters and years ('B', 'bh', 'BME', ...)",
            field="frequency",
        ) from None
    calendar = OpenHours(span, brackets.work(weekdays=EVERY_DAY), brackets.hours or ALL_DAY)
    if span % TICK or (span < SHORTEST_LOCAL and calendar.text.endswith(f"[{LOCAL}]")):
        raise FrequencyError(
            f"steps of {steps!r} all day and every day are counted in elapsed time, and finer than a microsecond "
            f"always; leave the brackets out",
            field="frequency",
        )
    return calendar


def _pieces(steps: str) -> list[tuple[int, str]]:
    if not PIECES.fullmatch(steps):
        raise ValueError(steps)
    return [(int(number or 1), unit) for number, unit in PIECE.findall(steps)]


def _span(pieces: list[tuple[int, str]], lengths: dict[str, int]) -> int:
    if not {unit for _, unit in pieces} <= set(lengths):
        raise ValueError(pieces)
    return _positive(sum(count * lengths[unit] for count, unit in pieces))


def _positive(number: str | int) -> int:
    if int(number) < 1:
        raise ValueError(number)
    return int(number)


def _offset(found: re.Match[str], brackets: Brackets = NO_BRACKETS) -> Offset:
    anchors = tuple(found["anchors"].upper().split("-")[1:])
    return Offset(_positive(found["count"] or 1), anchors, brackets)


def _only(offset: Offset) -> str | None:
    """Give the anchor, if there is one."""
    if len(offset.anchors) > 1:
        raise ValueError(offset.anchors)
    return offset.anchors[0] if offset.anchors else None


def _unanchored(make: Callable[[Offset], Calendar]) -> Maker:
    def maker(offset: Offset) -> Calendar:
        if offset.anchors:
            raise ValueError(offset.anchors)
        return make(offset)

    return maker


def _work(offset: Offset) -> WorkDays:
    if offset.brackets.hours is not None:
        raise FrequencyError(
            "hours of opening say nothing about whole days; write them behind hours, 'h[mon-fri, 09:00-17:00]'",
            field="frequency",
        )
    return offset.brackets.work(weekdays=STANDARD.weekdays)


def _business_hours(offset: Offset) -> Calendar:
    work = offset.brackets.work(weekdays=STANDARD.weekdays)
    return OpenHours(offset.count * UNITS["h"], work, offset.brackets.hours or OFFICE_HOURS)


def _weeks(offset: Offset) -> Calendar:
    return Days(7 * offset.count, anchor=WEEKDAYS.index(_only(offset) or "SUN"))  # pandas' plain `W` ends on Sunday


def _months(anchor: Anchor, cycle: int) -> Maker:
    first_or_last = "JAN" if anchor in ("start", "business_start") else "DEC"

    def maker(offset: Offset) -> Calendar:
        work = _work(offset)
        if cycle == 1:
            return _unanchored(lambda offset: Months(offset.count, anchor, work=work))(offset)
        month = MONTHS.index(_only(offset) or first_or_last) + 1
        return Months(offset.count, anchor, cycle=cycle, month=month, work=work)

    return maker


def _own_months(months: int) -> Calendar:
    cycle = next(cycle for cycle in (12, 3, 1) if months % cycle == 0)
    return Months(_positive(months // cycle), "own", cycle=cycle)


def _semi_months(anchor: Literal["start", "end"]) -> Maker:
    def maker(offset: Offset) -> Calendar:
        middle = int(_only(offset) or MIDDLE)
        if not 2 <= middle <= 27:
            raise ValueError(middle)
        return SemiMonths(offset.count, anchor, middle=middle)

    return maker


def _month_week(offset: Offset) -> Calendar:
    week, day = int((_only(offset) or "0")[0]), (_only(offset) or "")[1:]
    if not 1 <= week <= 4:
        raise ValueError(week)
    return MonthWeeks(offset.count, WEEKDAYS.index(day), week=week)


def _fiscal_years(offset: Offset) -> Calendar:
    return FiscalYears(offset.count, _fiscal_year(offset.anchors))


def _fiscal_quarters(offset: Offset) -> Calendar:
    *year, long_quarter = offset.anchors
    if long_quarter not in ("1", "2", "3", "4"):
        raise ValueError(long_quarter)
    return FiscalQuarters(offset.count, _fiscal_year(tuple(year)), long_quarter=int(long_quarter))


def _fiscal_year(anchors: tuple[str, ...]) -> FiscalYear:
    ends, month, day = anchors
    if ends not in ("N", "L"):
        raise ValueError(ends)
    return FiscalYear(ends, month=MONTHS.index(month) + 1, weekday=WEEKDAYS.index(day))


MAKERS: dict[str, Maker] = {
    **dict.fromkeys(("D", "d"), _unanchored(lambda offset: Days(offset.count))),
    **dict.fromkeys(("B", "C"), _unanchored(lambda offset: BusinessDays(offset.count, _work(offset)))),
    **dict.fromkeys(("bh", "BH", "cbh", "CBH"), _unanchored(_business_hours)),
    "W": _weeks,
    **dict.fromkeys(("SM", "SME"), _semi_months("end")),
    "SMS": _semi_months("start"),
    "WOM": _month_week,
    "LWOM": lambda offset: MonthWeeks(offset.count, WEEKDAYS.index(_only(offset) or ""), week=LAST),
    "RE": _fiscal_years,
    "REQ": _fiscal_quarters,
    "MS": _months("start", 1),
    **dict.fromkeys(("M", "ME"), _months("end", 1)),
    **dict.fromkeys(("BMS", "CBMS"), _months("business_start", 1)),
    **dict.fromkeys(("BM", "BME", "CBM", "CBME"), _months("business_end", 1)),
    "QS": _months("start", 3),
    **dict.fromkeys(("Q", "QE"), _months("end", 3)),
    "BQS": _months("business_start", 3),
    **dict.fromkeys(("BQ", "BQE"), _months("business_end", 3)),
    **dict.fromkeys(("YS", "AS"), _months("start", 12)),
    **dict.fromkeys(("Y", "YE", "A"), _months("end", 12)),
    **dict.fromkeys(("BYS", "BAS"), _months("business_start", 12)),
    **dict.fromkeys(("BY", "BYE", "BA"), _months("business_end", 12)),
}
"""What makes the calendar for each of pandas' units of the calendar's days, in every spelling."""

TAKE_BRACKETS = {unit for unit in MAKERS if unit.upper().startswith(("B", "C"))}
"""Units of business, which the days of the week that are worked and holidays say something about."""
