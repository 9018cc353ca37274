"""The laws of the contract: neither library nor order of rows or columns changes a frame, and it comes back whole."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from forecast.frames.answer import history_frame
from forecast.frames.contract import DataContract, Prepared, prepare
from forecast.frames.frequency import Frequency

FREQUENCIES = ("30min", "h", "D", "B", "2D", "W-WED", "MS", "ME", "1mo", "QS-FEB", "YE-JUN")
ZONES = (None, "UTC", "Europe/Berlin", "America/New_York")
UNITS = ("ms", "us", "ns")
VALUES = st.one_of(st.none(), st.floats(-1e12, 1e12), st.just(2.0**53 - 1))


@st.composite
def long_frames(draw: st.DrawFn) -> tuple[pl.DataFrame, str]:
    """Draw a frame of one to four series with gaps and missing values, sorted, and the frequency of its stamps."""
    frequency = draw(st.sampled_from(FREQUENCIES))
    dtype = pl.Datetime(draw(st.sampled_from(UNITS)), draw(st.sampled_from(ZONES)))
    names = draw(st.one_of(st.lists(st.integers(0, 99), min_size=1, max_size=4, unique=True), st.permutations("zyx")))
    parts = [_series(draw, name, frequency=frequency, dtype=dtype) for name in names]
    return pl.concat(parts), frequency


def _series(draw: st.DrawFn, name: str | int, *, frequency: str, dtype: pl.Datetime) -> pl.DataFrame:
    first = draw(st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1))).replace(minute=0, second=0, microsecond=0)
    if frequency not in ("30min", "h"):
        first = first.replace(hour=12)  # no clock changes at noon, so that every local stamp exists once
    steps = sorted(draw(st.sets(st.integers(1, 60), min_size=1, max_size=25)) | {0})
    stamps = pl.Series("ds", _stamps(first, frequency, steps), dtype=pl.Datetime(dtype.time_unit))
    if dtype.time_zone:
        finer = frequency in ("30min", "h")
        stamps = stamps.dt.replace_time_zone("UTC" if finer else dtype.time_zone).dt.convert_time_zone(dtype.time_zone)
    values = draw(st.lists(VALUES, min_size=len(steps), max_size=len(steps)))
    return pl.DataFrame({"unique_id": [name] * len(steps), "ds": stamps, "y": pl.Series(values, dtype=pl.Float64)})


def _stamps(first: datetime, frequency: str, steps: list[int]) -> list[datetime]:
    if frequency == "1mo":
        every = [pd.Timestamp(first.replace(day=17)) + pd.DateOffset(months=step) for step in range(61)]
    else:
        every = list(pd.date_range(first, periods=61, freq=frequency))
    return [every[step].to_pydatetime() for step in steps]


def same(left: Prepared, right: Prepared) -> bool:
    return all(
        (
            left.panel.ids == right.panel.ids,
            np.array_equal(left.panel.values, right.panel.values),
            np.array_equal(left.panel.observed, right.panel.observed),
            np.array_equal(left.panel.offsets, right.panel.offsets),
            np.array_equal(left.panel.axis.origins.places, right.panel.axis.origins.places),
            left.panel.axis.frequency == right.panel.axis.frequency,
        )
    )


@given(long_frames())
def test_a_frame_comes_back_whole_from_its_panel(drawn: tuple[pl.DataFrame, str]) -> None:
    frame, frequency = drawn[0].sort("unique_id", "ds"), drawn[1]

    prepared = prepare(frame, DataContract(frequency=frequency))
    history = history_frame(prepared.panel, like="polars", columns=prepared.columns)

    assert_frame_equal(history.drop_nulls("y"), frame.drop_nulls("y"))
    assert history.join(frame, on=["unique_id", "ds"], how="anti")["y"].null_count() == len(history) - len(frame)


@given(long_frames())
def test_pandas_and_polars_give_the_same(drawn: tuple[pl.DataFrame, str]) -> None:
    frame, frequency = drawn
    contract = DataContract(frequency=frequency)

    assert same(prepare(frame, contract), prepare(frame.to_pandas(), contract))


@given(long_frames(), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_changes_nothing(drawn: tuple[pl.DataFrame, str], random: Any) -> None:
    frame, frequency = drawn
    contract = DataContract(frequency=frequency)
    rows = random.sample(range(len(frame)), len(frame))
    shuffled = frame[rows].select(random.sample(frame.columns, 3))

    assert same(prepare(frame, contract), prepare(shuffled, contract))


@given(long_frames())
def test_a_series_is_read_alone_as_it_is_in_company(drawn: tuple[pl.DataFrame, str]) -> None:
    frame, frequency = drawn
    contract = DataContract(frequency=frequency)
    panel = prepare(frame, contract).panel

    for number, name in enumerate(panel.ids):
        alone = prepare(frame.filter(pl.col("unique_id") == name), contract).panel
        assert np.array_equal(alone.values, panel.values[panel.series(number)])
        assert alone.axis.stamps(0, first=0, count=80).equals(panel.axis.stamps(number, first=0, count=80))


@given(st.sampled_from([*FREQUENCIES, "s", "90min", "2W-TUE", "BME", "BQS-JAN", "3YS-APR", "17"]))
def test_a_frequency_is_equal_to_what_its_text_spells(text: str) -> None:
    frequency = Frequency.parse(text)

    assert Frequency.parse(frequency.text) == frequency


@given(st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1)), st.sampled_from(ZONES[1:]))
def test_hours_from_any_instant_are_an_hour_apart(first: datetime, zone: str) -> None:
    stamps = pl.Series("ds", [first.replace(tzinfo=UTC)]).dt.convert_time_zone(zone)

    axis = prepare(pl.DataFrame({"ds": stamps, "y": [1.0]}), DataContract(frequency="h")).panel.axis

    assert set(np.diff(axis.stamps(0, first=0, count=200).to_physical())) == {3_600_000_000}
