"""What every calendar feature must do: one value for one local time, in any zone, unit, series and number of rows."""

from datetime import UTC, datetime, timedelta
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from forecast.config import to_plain
from forecast.errors import ConfigError
from forecast.frames.contract import DataContract, prepare
from forecast.frames.features import CalendarFeature, Feature, Fourier, Season, calendar_columns, calendar_names
from forecast.frames.frequency import Frequency

READ: TypeAdapter[Feature] = TypeAdapter(CalendarFeature)
NEEDS = {"fourier": {"period": "week", "order": 3}, "holidays": {"country": "DE", "days_before": 1, "days_after": 2}}
KINDS = [kind.__dataclass_fields__["kind"].default for kind in get_args(get_args(CalendarFeature)[0])]
VARIANTS = [
    *({"kind": kind, **NEEDS.get(kind, {})} for kind in KINDS),
    *({"kind": kind, "encoding": "one_hot"} for kind in ("hour", "weekday", "month", "quarter")),
    *({"kind": "fourier", "period": period} for period in ("minute", "hour", "day", "month", "quarter", "year", 8766)),
    {"kind": "season", "season_length": 168},
    {"kind": "business_day", "weekend": ["fri", "sat"], "country": "US", "subdivision": "CA"},
]
FEATURES: list[Feature] = [READ.validate_python(variant) for variant in VARIANTS]
HOURLY = Frequency.parse("h")
ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe")
LOCAL = st.datetimes(datetime(1995, 1, 2), datetime(2099, 12, 1))


def every(feature: Feature, *, moments: pl.Series, frequency: Frequency = HOURLY) -> np.ndarray:
    return feature.columns(moments, frequency=frequency)


def hours(zone: str | None, count: int = 400) -> pl.Series:
    """Hours across the end of a year and the change of Berlin's clock in spring, in no order."""
    near = [datetime(2023, 12, 28, tzinfo=UTC), datetime(2024, 3, 28, tzinfo=UTC), datetime(2024, 10, 24, tzinfo=UTC)]
    stamps = [first + timedelta(hours=7 * step % count) for first in near for step in range(count)]
    instants = pl.Series(stamps, dtype=pl.Datetime("us", "UTC"))
    return instants.dt.replace_time_zone(None) if zone is None else instants.dt.convert_time_zone(zone)


@pytest.fixture(params=FEATURES, ids=[" ".join(map(str, variant.values())) for variant in VARIANTS])
def feature(request: pytest.FixtureRequest) -> Feature:
    return request.param


def test_every_kind_is_tried() -> None:
    assert len(set(KINDS)) == len(KINDS)
    assert {variant["kind"] for variant in VARIANTS} == set(KINDS)


def test_there_is_a_finite_column_a_name(feature: Feature) -> None:
    names = feature.names(HOURLY)

    columns = every(feature, moments=hours("Europe/Berlin"))

    assert columns.shape == (len(hours(None)), len(set(names)))
    assert columns.dtype == np.float64
    assert np.isfinite(columns).all()


@pytest.mark.parametrize("zone", ZONES)
def test_a_zone_shows_the_values_of_its_own_clock(feature: Feature, zone: str) -> None:
    zoned = hours(zone)

    np.testing.assert_array_equal(
        every(feature, moments=zoned), every(feature, moments=zoned.dt.replace_time_zone(None))
    )


@pytest.mark.parametrize("unit", ["ms", "ns"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_the_time_unit_changes_nothing(feature: Feature, unit: str, zone: str | None) -> None:
    moments = hours(zone)

    np.testing.assert_array_equal(
        every(feature, moments=moments.dt.cast_time_unit(unit)), every(feature, moments=moments)
    )


def test_rows_are_worked_out_alone_as_in_company(feature: Feature) -> None:
    moments = hours("America/New_York", 40)

    together = every(feature, moments=moments)

    alone = [every(feature, moments=moments[row : row + 1]) for row in range(len(moments))]
    np.testing.assert_array_equal(np.vstack(alone), together)


def test_no_rows_give_no_values(feature: Feature) -> None:
    assert every(feature, moments=hours(None)[:0]).shape == (0, len(feature.names(HOURLY)))


@given(st.lists(LOCAL, min_size=1, max_size=20))
def test_any_local_time_has_one_finite_value_whatever_its_zone(stamps: list[datetime]) -> None:
    moments = pl.Series(stamps, dtype=pl.Datetime("us"))
    for feature in FEATURES:
        columns = every(feature, moments=moments)
        assert np.isfinite(columns).all()
        np.testing.assert_array_equal(every(feature, moments=moments.dt.replace_time_zone("Etc/GMT-5")), columns)


@pytest.mark.parametrize(
    ("frequency", "first"),
    [
        *((frequency, datetime(2024, 2, 1, 6, 30)) for frequency in ("30min", "h", "7h", "D", "2D", "B", "1w", "1mo")),
        *(("W-TUE", datetime(2024, 2, 6)), ("MS", datetime(2024, 2, 1)), ("2QE-DEC", datetime(2024, 3, 31))),
    ],
)
def test_where_a_series_starts_changes_nothing(frequency: str, first: datetime) -> None:
    parsed, one = Frequency.parse(frequency), np.zeros(60, dtype=np.int64)
    chosen = [feature for feature in FEATURES if not isinstance(feature, Season) or feature.season_length]
    early, late = (
        prepare(pl.DataFrame({"ds": [start], "y": [1.0]}), DataContract(frequency=frequency)).panel.axis
        for start in (first, first_after(25, frequency=frequency, first=first))
    )

    from_early = early.moments_at(one, steps=np.arange(25, 85))
    from_late = late.moments_at(one, steps=np.arange(60))

    for feature in chosen:
        np.testing.assert_array_equal(
            every(feature, moments=from_early, frequency=parsed), every(feature, moments=from_late, frequency=parsed)
        )


def first_after(steps: int, *, frequency: str, first: datetime) -> datetime:
    axis = prepare(pl.DataFrame({"ds": [first], "y": [1.0]}), DataContract(frequency=frequency)).panel.axis
    return axis.stamps(0, first=steps, count=1)[0]


def test_integer_time_has_a_season_and_waves_but_no_dates(feature: Feature) -> None:
    counted, numbers = Frequency.parse(3), pl.Series([0, 3, 6, -3])
    by_steps = (isinstance(feature, Season) and feature.season_length) or (
        isinstance(feature, Fourier) and not isinstance(feature.period, str)
    )
    if by_steps:
        assert every(feature, moments=numbers, frequency=counted).shape == (4, 2)
        return
    for ask in (lambda: feature.names(counted), lambda: every(feature, moments=numbers, frequency=counted)):
        with pytest.raises(ConfigError, match=r"the calendar feature '\w+'"):
            ask()


def test_a_feature_survives_being_written_down(feature: Feature) -> None:
    assert READ.validate_python(to_plain(feature)) == feature


def test_all_at_once_are_the_columns_of_each_in_order() -> None:
    chosen = [READ.validate_python({"kind": kind}) for kind in ("hour", "weekend", "trend")]
    moments = hours("Europe/Berlin")

    columns = calendar_columns(chosen, moments, frequency=HOURLY)

    assert calendar_names(chosen, frequency=HOURLY) == ("hour_sin", "hour_cos", "weekend", "trend")
    np.testing.assert_array_equal(columns, np.hstack([every(feature, moments=moments) for feature in chosen]))
    assert calendar_columns([], moments, frequency=HOURLY).shape == (len(moments), 0)


def test_two_features_that_share_a_column_are_refused() -> None:
    twice = [Fourier(period="week", order=1), Fourier(period="week", order=2)]

    with pytest.raises(ConfigError, match="two calendar features give the columns 'fourier_week_cos_1'"):
        calendar_columns(twice, hours(None), frequency=HOURLY)
