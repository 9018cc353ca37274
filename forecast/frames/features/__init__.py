"""Calendar features: what the stamps alone say, known ahead; one file a kind, one line in the union."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
import polars as pl
from jaxtyping import Float64

from forecast.config import Tagged
from forecast.errors import ConfigError
from forecast.frames.features.base import Feature
from forecast.frames.features.business_day import BusinessDay
from forecast.frames.features.day_of_month import DayOfMonth
from forecast.frames.features.day_of_year import DayOfYear
from forecast.frames.features.fourier import Fourier
from forecast.frames.features.holidays import Holidays
from forecast.frames.features.hour import Hour
from forecast.frames.features.minute import Minute
from forecast.frames.features.month import Month
from forecast.frames.features.quarter import Quarter
from forecast.frames.features.season import Season
from forecast.frames.features.trend import Trend
from forecast.frames.features.week_of_year import WeekOfYear
from forecast.frames.features.weekday import Weekday
from forecast.frames.features.weekend import Weekend
from forecast.frames.frequency import Frequency

CalendarFeature = Annotated[
    Minute
    | Hour
    | Weekday
    | Weekend
    | BusinessDay
    | DayOfMonth
    | DayOfYear
    | WeekOfYear
    | Month
    | Quarter
    | Season
    | Fourier
    | Holidays
    | Trend,
    Tagged,
]

__all__ = [
    "BusinessDay",
    "CalendarFeature",
    "DayOfMonth",
    "DayOfYear",
    "Feature",
    "Fourier",
    "Holidays",
    "Hour",
    "Minute",
    "Month",
    "Quarter",
    "Season",
    "Trend",
    "WeekOfYear",
    "Weekday",
    "Weekend",
    "calendar_columns",
    "calendar_names",
]


def calendar_names(features: Sequence[Feature], *, frequency: Frequency) -> tuple[str, ...]:
    """Name the columns of all features, in order.

    Raises:
        ConfigError: a feature means nothing for steps of this kind, or two give a column of one name.
    """
    names = [name for feature in features for name in feature.names(frequency)]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ConfigError(
            f"two calendar features give the columns {', '.join(map(repr, repeated))}; leave one of them out",
            field="calendar",
        )
    return tuple(names)


def calendar_columns(
    features: Sequence[Feature], moments: pl.Series, *, frequency: Frequency
) -> Float64[np.ndarray, "row feature"]:
    """Give the columns of all features at moments, under `calendar_names`; local times are worked out once.

    Raises:
        ConfigError: a feature means nothing for steps of this kind, or two give a column of one name.
    """
    calendar_names(features, frequency=frequency)
    local = moments.dt.replace_time_zone(None) if isinstance(moments.dtype, pl.Datetime) else moments
    parts = [feature.columns(local, frequency=frequency) for feature in features]
    return np.hstack([np.empty((len(moments), 0)), *parts])
