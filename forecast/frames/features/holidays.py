"""The public holidays of a country, and the days around them."""

from typing import Annotated, Literal, Self

import numpy as np
from jaxtyping import Bool, Float64, Int64
from pydantic import Field, model_validator

from forecast.config import config
from forecast.frames.features.base import LocalFeature, LocalTimes
from forecast.frames.public_holidays import check_country, holiday_days

Days = Annotated[int, Field(ge=0, le=31)]


@config
class Holidays(LocalFeature):
    """1 on the public holidays of a country, by the local date, else 0; one more column a day before or after."""

    kind: Literal["holidays"] = "holidays"

    country: str
    """ISO 3166 code, `DE`."""

    subdivision: str | None = None
    """Code of a state or province that has holidays of its own, `BY`; None for those that the whole country has."""

    observed: bool = True
    """Count the working day that stands in for a holiday on a weekend, where the country has that rule."""

    days_before: Days = 0
    """The eve, and so on: each of so many days before a holiday has a column of its own."""

    days_after: Days = 0
    """The day after, and so on: each of so many days after a holiday has a column of its own."""

    @model_validator(mode="after")
    def _known_place(self) -> Self:
        check_country(self.country, subdivision=self.subdivision)
        return self

    @property
    def column_names(self) -> tuple[str, ...]:
        name = "_".join(["holiday", self.country, *([] if self.subdivision is None else [self.subdivision])])
        before = (f"{name}_before_{count}" for count in range(1, self.days_before + 1))
        after = (f"{name}_after_{count}" for count in range(1, self.days_after + 1))
        return (name, *before, *after)

    def at(self, local: LocalTimes) -> Float64[np.ndarray, "row feature"]:
        beside = [*range(self.days_before + 1), *range(-1, -self.days_after - 1, -1)]
        columns = np.zeros((len(local.days), len(beside)))
        if len(columns):
            first, last = int(local.days.min()), int(local.days.max())
            table = self._table(first - self.days_after, last + self.days_before)
            for place, ahead in enumerate(beside):
                columns[:, place] = table[local.days - first + self.days_after + ahead]
        return columns

    def _table(self, first: int, last: int) -> Bool[np.ndarray, " day"]:
        """Tell of each day from one to another whether it is a holiday."""
        days: Int64[np.ndarray, " holiday"] = holiday_days(
            self.country, subdivision=self.subdivision, observed=self.observed, first_day=first, last_day=last
        )
        table = np.zeros(last - first + 1, dtype=bool)
        table[days - first] = True
        return table
