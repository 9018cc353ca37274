"""A model's calendar features are made of steps that have them; others are refused, by frames and by whole series."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest

from forecast.errors import ConfigError, FrequencyError
from forecast.frames.contract import DataContract, Prepared, prepare
from forecast.frames.covariates import Covariate, CovariateSchema
from forecast.frames.features import CalendarFeature, Fourier, Hour, Season, Weekday, calendar_names
from forecast.frames.frequency import Frequency
from forecast.frames.regular import prepare_regular
from forecast.frames.regular_series import RegularSeries

MakeFrame = Callable[[Mapping[str, Any]], Any]

DATES = [datetime(2024, 3, 4, hour) for hour in range(4)]
MONTHS = [datetime(2024, month, 1) for month in range(1, 5)]
YEARS = [datetime(2020 + year, 1, 1) for year in range(4)]


def learnt(calendar: tuple[CalendarFeature, ...], frequency: str) -> CovariateSchema:
    names = calendar_names(calendar, frequency=Frequency.parse(frequency))
    return CovariateSchema(calendar=tuple(Covariate(name=name) for name in names))


def read(frame: Any, calendar: tuple[CalendarFeature, ...], frequency: str | None, schema: Any) -> Prepared:
    return prepare(frame, DataContract(calendar=calendar, frequency=frequency), horizon=2, schema=schema)


UNFIT = {
    "hours of integers": ((Hour(), Weekday()), "h", [1, 2, 3, 4], "1"),
    "waves of integers": ((Fourier(period="day"),), "h", [1, 2, 3, 4], "1"),
    "a season of years": ((Season(),), "MS", YEARS, "YS"),
}


@pytest.mark.parametrize("given", ["given", "read"])
@pytest.mark.parametrize("case", UNFIT)
def test_steps_that_lack_a_learnt_feature_are_refused(make_frame: MakeFrame, case: str, given: str) -> None:
    calendar, trained, stamps, frequency = UNFIT[case]
    frame = make_frame({"ds": stamps, "y": [1.0, 2.0, 3.0, 4.0]})

    with pytest.raises(FrequencyError, match=r"told calendar features that steps of .* do not have; give") as refused:
        read(frame, calendar, frequency if given == "given" else None, learnt(calendar, trained))

    assert refused.value.field == "frequency"


@pytest.mark.parametrize("case", UNFIT)
def test_series_given_whole_are_refused_alike(case: str) -> None:
    calendar, trained, stamps, frequency = UNFIT[case]
    series = RegularSeries(("a",), pl.Series(stamps[:1]), np.array([4]), (np.arange(4.0),))

    with pytest.raises(FrequencyError, match=r"told calendar features that steps of .* do not have; give") as refused:
        prepare_regular(
            series,
            frequency=Frequency.parse(frequency),
            contract=DataContract(calendar=calendar),
            horizon=2,
            schema=learnt(calendar, trained),
        )

    assert refused.value.field == "frequency"


def test_the_fault_of_the_whole_frame_comes_before_those_of_its_series() -> None:
    frame = pl.DataFrame({"ds": [1, 2, 3], "y": [None, None, None]}, schema_overrides={"y": pl.Float64})
    contract = DataContract(calendar=(Hour(),), on_missing="refuse")

    with pytest.raises(FrequencyError, match="calendar features"):
        prepare(frame, contract, schema=learnt((Hour(),), "h"))


FIT = {
    "the steps of training": ((Hour(), Weekday()), "h", DATES),
    "other steps that have a date": ((Hour(), Weekday()), "h", MONTHS),
    "another default season": ((Season(),), "h", MONTHS),
    "a season in steps, of integers": ((Season(season_length=3),), "h", [1, 2, 3, 4]),
    "no features": ((), "h", [1, 2, 3, 4]),
}


@pytest.mark.parametrize("case", FIT)
def test_steps_that_have_the_features_are_read(make_frame: MakeFrame, case: str) -> None:
    calendar, trained, stamps = FIT[case]

    prepared = read(
        make_frame({"ds": stamps, "y": [1.0, 2.0, 3.0, 4.0]}), calendar, None, schema := learnt(calendar, trained)
    )

    covariates = prepared.panel.covariates
    assert (0 if covariates is None else len(covariates.values)) == len(schema.calendar)


@pytest.mark.parametrize(
    ("calendar", "model", "said"),
    [
        ((), (Hour(),), "makes the calendar features none and the model is told 'hour_sin', 'hour_cos'"),
        ((Hour(),), (), "makes the calendar features 'hour_sin', 'hour_cos' and the model is told none"),
        ((Weekday(), Hour()), (Hour(), Weekday()), "give the calendar that the model was trained with"),
    ],
)
def test_a_contract_that_makes_other_features_than_the_model_is_told_is_refused(
    make_frame: MakeFrame, calendar: Any, model: Any, said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        read(make_frame({"ds": DATES, "y": [1.0, 2.0, 3.0, 4.0]}), calendar, None, learnt(model, "h"))

    assert refused.value.field == "calendar"


def test_where_nothing_is_learnt_yet_the_feature_itself_is_named(make_frame: MakeFrame) -> None:
    with pytest.raises(ConfigError, match="'hour_sin' means nothing for integer time"):
        read(make_frame({"ds": [1, 2, 3, 4], "y": [1.0, 2.0, 3.0, 4.0]}), (Hour(),), None, None)
