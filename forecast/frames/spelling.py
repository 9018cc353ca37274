"""Spellings of a frequency, text to calendar: pandas' offsets, old and new, polars' durations, and whole numbers."""

import re
from collections.abc import Callable

from forecast.errors import FrequencyError
from forecast.frames.calendar.base import Calendar
from forecast.frames.calendar.business import BusinessDays
from forecast.frames.calendar.days import WEEKDAYS, Days
from forecast.frames.calendar.instants import UNITS, Instants
from forecast.frames.calendar.integers import Integers
from forecast.frames.calendar.months import MONTHS, Anchor, Months

EXAMPLES = "'h', '30min', 'D', 'B', 'W-MON', 'MS', 'ME', 'QS-JAN', 'YE-DEC', '1w', '1mo', or a whole number"

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

PIECE = re.compile(r"(\d*)([A-Za-z]+)(?:-([A-Za-z]{3}))?")

Maker = Callable[[int, str | None], Calendar]


def parse_frequency(text: str) -> Calendar:
    """Give the calendar that a text spells.

    Raises:
        FrequencyError: the text spells no frequency that is known here.
    """
    compact = text.replace(" ", "")
    if compact.isdigit() and int(compact) > 0:
        return Integers(int(compact))
    pieces = PIECE.findall(compact)
    if not pieces or "".join(number + unit + (anchor and f"-{anchor}") for number, unit, anchor in pieces) != compact:
        raise _unknown(text)
    if all(unit in SPANS and not anchor for _, unit, anchor in pieces):
        return _instants(text, [int(number or 1) * SPANS[unit] for number, unit, _ in pieces])
    if len(pieces) > 1 or pieces[0][1] not in MAKERS:
        raise _unknown(text)
    number, unit, anchor = pieces[0]
    return _make(text, unit, count=int(number or 1), anchor=anchor.upper() or None)


def _instants(text: str, spans: list[int]) -> Calendar:
    if sum(spans) <= 0:
        raise _unknown(text)
    return Instants(sum(spans))


def _make(text: str, unit: str, *, count: int, anchor: str | None) -> Calendar:
    if count < 1:
        raise _unknown(text)
    try:
        return MAKERS[unit](count, anchor)
    except ValueError:  # not a weekday, not a month, or an anchor on a unit that takes none
        raise _unknown(text) from None


def _unknown(text: str) -> FrequencyError:
    return FrequencyError(f"frequency {text!r} is not known; write for example {EXAMPLES}", field="frequency")


def _unanchored(make: Callable[[int], Calendar]) -> Maker:
    def maker(count: int, anchor: str | None) -> Calendar:
        if anchor:
            raise ValueError(anchor)
        return make(count)

    return maker


def _weeks(count: int, anchor: str | None) -> Calendar:
    return Days(7 * count, anchor=WEEKDAYS.index(anchor or "SUN"))  # pandas' plain `W` ends weeks on Sunday


def _months(anchor: Anchor, cycle: int) -> Maker:
    first_or_last = "JAN" if anchor in ("start", "business_start") else "DEC"

    def maker(count: int, month: str | None) -> Calendar:
        if cycle == 1:
            return _unanchored(lambda count: Months(count, anchor))(count, month)
        return Months(count, anchor, cycle=cycle, month=MONTHS.index(month or first_or_last) + 1)

    return maker


def _own(cycle: int) -> Maker:
    return _unanchored(lambda count: Months(count, "own", cycle=cycle))


MAKERS: dict[str, Maker] = {
    **dict.fromkeys(("D", "d"), _unanchored(Days)),
    **dict.fromkeys(("B",), _unanchored(BusinessDays)),
    "W": _weeks,
    "w": _unanchored(lambda count: Days(7 * count)),
    "mo": _own(1),
    "q": _own(3),
    "y": _own(12),
    **dict.fromkeys(("MS",), _months("start", 1)),
    **dict.fromkeys(("M", "ME"), _months("end", 1)),
    **dict.fromkeys(("BMS",), _months("business_start", 1)),
    **dict.fromkeys(("BM", "BME"), _months("business_end", 1)),
    **dict.fromkeys(("QS",), _months("start", 3)),
    **dict.fromkeys(("Q", "QE"), _months("end", 3)),
    **dict.fromkeys(("BQS",), _months("business_start", 3)),
    **dict.fromkeys(("BQ", "BQE"), _months("business_end", 3)),
    **dict.fromkeys(("YS", "AS"), _months("start", 12)),
    **dict.fromkeys(("Y", "YE", "A"), _months("end", 12)),
    **dict.fromkeys(("BYS", "BAS"), _months("business_start", 12)),
    **dict.fromkeys(("BY", "BYE", "BA"), _months("business_end", 12)),
}
"""What makes the calendar for each unit of the calendar's days, in every spelling."""
