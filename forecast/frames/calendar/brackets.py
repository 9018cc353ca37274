"""What stands in brackets behind a frequency, read and written: `[mon-sat, DE-BY, 2024-03-11, 09:30-16:00]`."""

import re
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise

from forecast.errors import FrequencyError
from forecast.frames.calendar.days import WEEKDAYS
from forecast.frames.calendar.instants import DAY, UNITS
from forecast.frames.calendar.work_days import STANDARD, WorkDays
from forecast.frames.public_holidays import check_country

Hours = tuple[tuple[int, int], ...]
"""When work begins and ends, in nanoseconds after midnight; ascending, one pair or more."""

DAYS = tuple(day.lower() for day in WEEKDAYS)
EVERY_DAY = tuple(range(7))
ALL_DAY: Hours = ((0, DAY),)
OFFICE_HOURS: Hours = ((9 * UNITS["h"], 17 * UNITS["h"]),)
"""pandas' business hours."""

LOCAL = "local"
"""Says that steps are counted on the local clock, where nothing else in the brackets does."""

EPOCH = date(1970, 1, 1)

WEEK = re.compile(r"(mon|tue|wed|thu|fri|sat|sun)(?:-(mon|tue|wed|thu|fri|sat|sun))?")
CLOCK = re.compile(r"(\d{2}):(\d{2})-(\d{2}):(\d{2})")
HOLIDAY = re.compile(r"\d{4}-\d{2}-\d{2}")
COUNTRY = re.compile(r"([A-Z]{2,3})(?:-([A-Z0-9]{1,4}))?")

MEANT = (
    "days of the week (mon-fri), a country whose holidays are kept (DE or DE-BY), dates of further holidays "
    "(2024-12-27), hours of opening (09:00-17:00) or 'local', with commas between"
)


@dataclass(frozen=True)
class Brackets:
    """What brackets say; None where they are silent."""

    weekdays: tuple[int, ...] | None = None
    hours: Hours | None = None
    country: str | None = None
    subdivision: str | None = None
    holidays: tuple[int, ...] = ()
    """In days since 1970-01-01."""

    def work(self, *, weekdays: tuple[int, ...]) -> WorkDays:
        """Give the days that are worked, of the days of the week given here unless the brackets name some."""
        return WorkDays(self.weekdays or weekdays, self.country, self.subdivision, self.holidays)


def read_brackets(items: str) -> Brackets:
    """Read what stands between brackets.

    Raises:
        FrequencyError: an item is none of those that may stand there, or contradicts another.
    """
    weekdays: set[int] = set()
    hours: list[tuple[int, int]] = []
    places: list[tuple[str, str | None]] = []
    holidays: set[int] = set()
    for item in (item.strip() for item in items.split(",")):
        if found := WEEK.fullmatch(item.lower()):
            weekdays |= _days_of_week(*found.groups())
        elif found := CLOCK.fullmatch(item):
            hours.append(_opening(item, *map(int, found.groups())))
        elif HOLIDAY.fullmatch(item):
            holidays.add(_day(item))
        elif found := COUNTRY.fullmatch(item):
            places.append(_place(item, *found.groups()))
        elif item == LOCAL:
            hours += ALL_DAY
        else:
            raise FrequencyError(
                f"{item!r} may not stand in brackets behind a frequency; {MEANT} may", field="frequency"
            )
    country, subdivision = places[0] if places else (None, None)
    if len(places) > 1:
        raise FrequencyError(f"a frequency keeps the holidays of one country, got [{items}]", field="frequency")
    return Brackets(tuple(sorted(weekdays)) or None, _in_order(hours), country, subdivision, tuple(sorted(holidays)))


def bracketed(
    work: WorkDays, *, hours: Hours = ALL_DAY, weekdays: tuple[int, ...] = STANDARD.weekdays, empty: str = ""
) -> str:
    """Write brackets; `weekdays` go without saying, and `empty` stands where nothing else is to be said."""
    items = [] if work.weekdays == weekdays else _days_text(work.weekdays)
    if work.country is not None:
        items.append("-".join([work.country, *([] if work.subdivision is None else [work.subdivision])]))
    items += [str(EPOCH + timedelta(days=day)) for day in work.holidays]
    items += [] if hours == ALL_DAY else [f"{_clock(first)}-{_clock(last)}" for first, last in hours]
    items = items or [empty]
    return f"[{', '.join(items)}]" if any(items) else ""


def _days_of_week(first: str, last: str | None) -> set[int]:
    start, end = DAYS.index(first), DAYS.index(last or first)
    return {(start + day) % 7 for day in range((end - start) % 7 + 1)}


def _days_text(weekdays: tuple[int, ...]) -> list[str]:
    for first in weekdays:
        run = tuple(sorted((first + day) % 7 for day in range(len(weekdays))))
        if run == weekdays and len(run) > 1:
            return [f"{DAYS[first]}-{DAYS[(first + len(run) - 1) % 7]}"]
    return [DAYS[day] for day in weekdays]


def _opening(item: str, *numbers: int) -> tuple[int, int]:
    first, last = (hour * UNITS["h"] + minute * UNITS["min"] for hour, minute in (numbers[:2], numbers[2:]))
    if not first < last <= DAY or numbers[1] > 59 or numbers[3] > 59:
        raise FrequencyError(f"{item!r} are no hours of opening within a day; write 09:00-17:00", field="frequency")
    return first, last


def _in_order(hours: list[tuple[int, int]]) -> Hours | None:
    ordered = tuple(sorted(hours))
    if any(after[0] <= before[1] for before, after in pairwise(ordered)):
        written = ", ".join(f"{_clock(first)}-{_clock(last)}" for first, last in ordered)
        raise FrequencyError(f"hours of opening must lie apart, got {written}; join or correct them", field="frequency")
    return ordered or None


def _day(item: str) -> int:
    try:
        return (date.fromisoformat(item) - EPOCH).days
    except ValueError:
        raise FrequencyError(f"{item!r} is no date; write holidays like 2024-12-27", field="frequency") from None


def _place(item: str, country: str, subdivision: str | None) -> tuple[str, str | None]:
    try:
        check_country(country, subdivision=subdivision)
    except ValueError as failure:
        raise FrequencyError(f"{item!r} in brackets behind a frequency: {failure}", field="frequency") from None
    return country, subdivision


def _clock(time_of_day: int) -> str:
    hour, minute = divmod(time_of_day // UNITS["min"], 60)
    return f"{hour:02}:{minute:02}"
