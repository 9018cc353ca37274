"""Whether it is a day of business."""

from typing import Annotated, Literal, Self

import numpy as np
from jaxtyping import Float64
from pydantic import Field, model_validator

from forecast.config import config
from forecast.frames.features.base import LocalFeature, LocalTimes
from forecast.frames.features.holidays import Holidays
from forecast.frames.features.weekend import Weekday, rests
from forecast.frames.public_holidays import check_country


@config
class BusinessDay(LocalFeature):
    """1 on local days that are neither of rest nor, where a country is named, a public holiday; else 0."""

    kind: Literal["business_day"] = "business_day"

    weekend: Annotated[tuple[Weekday, ...], Field(max_length=6)] = ("sat", "sun")
    """The days of rest."""

    country: str | None = None
    """ISO 3166 code of the country whose public holidays are kept; None for none."""

    subdivision: str | None = None
    """Code of a state or province that has holidays of its own."""

    @model_validator(mode="after")
    def _known_place(self) -> Self:
        if self.country is not None:
            check_country(self.country, subdivision=self.subdivision)
        elif self.subdivision is not None:
            raise ValueError(f"subdivision {self.subdivision!r} is of no country; name the country too")
        return self

    @property
    def column_names(self) -> tuple[str, ...]:
        return ("business_day",)

    def at(self, local: LocalTimes) -> Float64[np.ndarray, "row feature"]:
        works = ~rests(self.weekend)[local.weekday]
        if self.country is not None:
            works &= Holidays(country=self.country, subdivision=self.subdivision).at(local)[:, 0] == 0
        return works[:, None].astype(np.float64)
