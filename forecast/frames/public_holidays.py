"""Public holidays of a country by the package `holidays`, as days since 1970."""

from datetime import date
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Int64

from forecast.errors import BackendUnavailable, ConfigError

EPOCH = date(1970, 1, 1).toordinal()


def check_country(country: str, *, subdivision: str | None = None) -> None:
    """Accept a country, and a part of it, whose holidays are known.

    Raises:
        ValueError: they are not; says what is.
        BackendUnavailable: the package is not installed.
    """
    package = _package()
    known = package.list_supported_countries(include_aliases=True)
    if country not in known:
        raise ValueError(f"no holidays are known of country {country!r}; write its ISO 3166 code, for example 'DE'")
    if subdivision is None:
        return
    if subdivision not in (*known[country], *package.country_holidays(country).subdivisions_aliases):
        parts = package.list_supported_countries(include_aliases=False).get(country, [])
        which = f"choose one of {', '.join(parts)}" if parts else "it has none, leave the subdivision out"
        raise ValueError(f"country {country!r} has no subdivision {subdivision!r}; {which}")


def holiday_days(
    country: str, *, subdivision: str | None, observed: bool, first_day: int, last_day: int
) -> Int64[np.ndarray, " holiday"]:
    """Give the holidays from one day to another, both included and counted from 1970-01-01, in ascending order.

    Raises:
        ConfigError: the package does not know the holidays of all these years.
        BackendUnavailable: the package is not installed.
    """
    first_year, last_year = (date.fromordinal(EPOCH + day).year for day in (first_day, last_day))
    _check_years(country, first_year, last_year)
    days = _of_years(country, subdivision, observed, first_year, last_year)
    return days[np.searchsorted(days, first_day) : np.searchsorted(days, last_day, side="right")]


@lru_cache(maxsize=64)
def known_days(country: str) -> tuple[int, int]:
    """Give the first and the last day, since 1970-01-01, of the years whose holidays are known."""
    calendar = _package().country_holidays(country)
    first, last = date(calendar.start_year, 1, 1), date(calendar.end_year, 12, 31)
    return first.toordinal() - EPOCH, last.toordinal() - EPOCH


@lru_cache(maxsize=64)
def _of_years(
    country: str, subdivision: str | None, observed: bool, first_year: int, last_year: int
) -> Int64[np.ndarray, " holiday"]:
    years = range(first_year, last_year + 1)
    found = _package().country_holidays(country, subdiv=subdivision, observed=observed, years=years, expand=False)
    days = np.array(sorted(day.toordinal() - EPOCH for day in found), dtype=np.int64)
    days.flags.writeable = False
    return days


def _check_years(country: str, first_year: int, last_year: int) -> None:
    calendar = _package().country_holidays(country)
    if first_year < calendar.start_year or last_year > calendar.end_year:
        raise ConfigError(
            f"the holidays of {country!r} are known from {calendar.start_year} to {calendar.end_year}, "
            f"the stamps reach from {first_year} to {last_year}; leave the holidays out, or the stamps beyond",
            field="calendar",
        )


def _package() -> Any:
    try:
        import holidays
    except ImportError:
        raise BackendUnavailable("holidays of countries need the package holidays: pip install holidays") from None
    return holidays
