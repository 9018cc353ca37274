"""Which days are worked: the days of a week, less holidays; they are numbered in a row, whatever lies between."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int64

from forecast.errors import FrequencyError
from forecast.frames.public_holidays import holiday_days, known_days

FIRST_MONDAY = 4  # 1970-01-05, in days since 1970-01-01


@dataclass(frozen=True)
class WorkDays:
    """Some days of each week, without the holidays of a country and without those listed."""

    weekdays: tuple[int, ...] = (0, 1, 2, 3, 4)
    """Monday 0; ascending, one or more."""

    country: str | None = None
    """ISO 3166 code of the country whose public holidays are kept."""

    subdivision: str | None = None
    """Code of a part of the country that has holidays of its own."""

    holidays: tuple[int, ...] = ()
    """Further holidays, in days since 1970-01-01; ascending."""

    def number(self, days: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
        """Number the worked days; a day without work has the number of the last worked one before it."""
        weekly = self._weekly_number(days)
        return weekly - np.searchsorted(self._free, weekly, side="right")

    def day(self, numbers: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
        """Give the day, since 1970-01-01, of each number.

        Raises:
            FrequencyError: the country's holidays are not known so far away.
        """
        passed = np.searchsorted(self._free - np.arange(len(self._free)), numbers, side="right")
        weeks, rank = np.divmod(numbers + passed, len(self.weekdays))
        days = weeks * 7 + np.array(self.weekdays, dtype=np.int64)[rank] + FIRST_MONDAY
        self.check(days)
        return days

    def works(self, days: Int64[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
        """Tell which days are worked."""
        of_week = np.isin(np.arange(7), self.weekdays)[(days - FIRST_MONDAY) % 7]
        return of_week & ~np.isin(self._weekly_number(days), self._free) if len(self._free) else of_week

    def check(self, days: Int64[np.ndarray, " n"]) -> None:
        """Refuse days of which it is not known whether they are holidays.

        Raises:
            FrequencyError: names the country and the years that are known.
        """
        if self.country is None or not len(days):
            return
        first, last = known_days(self.country)
        if days.min() < first or days.max() > last:
            years = [int(np.datetime64(day, "D").astype("datetime64[Y]").astype(int)) + 1970 for day in (first, last)]
            raise FrequencyError(
                f"the holidays of {self.country!r} are known from {years[0]} to {years[1]} only, and steps without "
                f"them lie beyond; send stamps of these years, ask for a shorter horizon, or list the holidays",
                field="frequency",
            )

    def _weekly_number(self, days: Int64[np.ndarray, " n"]) -> Int64[np.ndarray, " n"]:
        weeks, weekdays = np.divmod(days - FIRST_MONDAY, 7)
        ranks = np.searchsorted(self.weekdays, np.arange(7), side="right") - 1
        return weeks * len(self.weekdays) + ranks[weekdays]

    @cached_property
    def _free(self) -> Int64[np.ndarray, " holiday"]:
        """The holidays on days of the week that are else worked, numbered as if there were no holidays."""
        public = np.empty(0, dtype=np.int64)
        if self.country is not None:
            first, last = known_days(self.country)
            public = holiday_days(
                self.country, subdivision=self.subdivision, observed=True, first_day=first, last_day=last
            )
        days = np.union1d(public, np.array(self.holidays, dtype=np.int64)).astype(np.int64)
        return self._weekly_number(days[np.isin((days - FIRST_MONDAY) % 7, self.weekdays)])


STANDARD = WorkDays()
"""Monday to Friday, without holidays."""
