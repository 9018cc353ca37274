"""Forecasts come back with the caller's ids, stamps, types and library, and quantiles named by their decimals."""

from datetime import date, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from forecast.errors import ConfigError
from forecast.forecast import Forecast
from forecast.frames.answer import forecast_frame, history_frame, levels_of, quantile_name
from forecast.frames.contract import Prepared, prepare

LEVELS = (0.1, 0.5, 0.995)
HORIZON = 2


def answer(prepared: Prepared, like: Any = None, *, levels: tuple[float, ...] = LEVELS) -> Any:
    num_series = len(prepared.panel)
    mean = np.arange(num_series * HORIZON, dtype=np.float64).reshape(num_series, HORIZON)
    quantiles = mean[:, :, None] + np.arange(len(levels)) * 100
    forecast = Forecast(mean=mean, quantiles=quantiles, quantile_levels=levels)
    return forecast_frame(prepared.panel, forecast, like=like or prepared.like, columns=prepared.columns)


def test_a_forecast_frame_has_keys_mean_and_quantiles(like: Any) -> None:
    prepared = prepare(
        pl.DataFrame({"item_id": ["b", "b", "a", "a", "a"], "date": [1, 2, 7, 8, 9], "target": [0.0] * 5})
    )

    frame = pl.DataFrame(answer(prepared, like))

    assert frame.columns == ["item_id", "date", "mean", "0.1", "0.5", "0.995"]
    assert frame["item_id"].to_list() == ["a", "a", "b", "b"]
    assert frame["date"].to_list() == [10, 11, 3, 4]
    assert frame["mean"].to_list() == [0, 1, 2, 3]
    assert frame["0.995"].to_list() == [200, 201, 202, 203]


def test_a_point_forecast_has_no_quantile_columns(like: Any) -> None:
    prepared = prepare(pl.DataFrame({"ds": [1, 2], "y": [0.0, 1.0]}))

    assert list(answer(prepared, like, levels=()).columns) == ["unique_id", "ds", "mean"]


PANDAS_TIMES = {
    **{f"datetime64[{unit}]": pd.date_range("2024-03-30", periods=3).as_unit(unit) for unit in ("s", "ms", "us", "ns")},
    "zone": pd.date_range("2024-03-30", periods=3, tz="Europe/Berlin"),
    "zone in seconds": pd.date_range("2024-03-30", periods=3, tz="Europe/Berlin").as_unit("s"),
    "fixed offset": pd.to_datetime(["2024-03-30T00:00+01:00", "2024-03-31T00:00+01:00", "2024-04-01T00:00+01:00"]),
    "int32": pd.Index([1, 2, 3], dtype="int32"),
    "Int64": pd.Index([1, 2, 3], dtype="Int64"),
    "text": pd.Index(["2024-03-30", "2024-03-31", "2024-04-01"]),
    "string": pd.Index(["2024-03-30", "2024-03-31", "2024-04-01"], dtype="string"),
    "dates": pd.Index([date(2024, 3, 30), date(2024, 3, 31), date(2024, 4, 1)]),
    "arrow timestamp": pd.Index(pd.date_range("2024-03-30", periods=3)).astype(pd.ArrowDtype(pa.timestamp("us"))),
    "arrow date": pd.Index([date(2024, 3, day) for day in (29, 30, 31)]).astype(pd.ArrowDtype(pa.date32())),
}


@pytest.mark.parametrize("times", PANDAS_TIMES)
def test_pandas_types_of_time_come_back(times: str) -> None:
    frame = pd.DataFrame({"ds": PANDAS_TIMES[times], "y": [1.0, 2.0, 3.0]})

    prepared = prepare(frame)
    history = history_frame(prepared.panel, like="pandas", columns=prepared.columns)

    pd.testing.assert_series_equal(history["ds"], frame["ds"])
    assert answer(prepared)["ds"].dtype == frame["ds"].dtype


PANDAS_IDS = {
    "object": pd.Series(["a", "b"], dtype=object),
    "string": pd.Series(["a", "b"], dtype="string"),
    "int8": pd.Series([3, 7], dtype="int8"),
    "Int64": pd.Series([3, 7], dtype="Int64"),
    "category": pd.Series(pd.Categorical(["a", "b"], categories=["unused", "b", "a"])),
    "integer category": pd.Series(pd.Categorical([3, 7], categories=[7, 3])),
    "arrow string": pd.Series(["a", "b"], dtype=pd.ArrowDtype(pa.string())),
}


@pytest.mark.parametrize("ids", PANDAS_IDS)
def test_pandas_types_of_ids_come_back(ids: str) -> None:
    frame = pd.DataFrame({"unique_id": PANDAS_IDS[ids], "ds": [1, 1], "y": [1.0, 2.0]})

    prepared = prepare(pd.concat([frame, frame.assign(ds=2)], ignore_index=True))

    expected = frame["unique_id"].repeat(HORIZON).reset_index(drop=True).astype(PANDAS_IDS[ids].dtype)
    pd.testing.assert_series_equal(answer(prepared)["unique_id"], expected)


@pytest.mark.parametrize("dtype", [pl.String(), pl.Categorical(), pl.Enum(["unused", "b", "a"])])
def test_polars_types_of_ids_come_back(dtype: pl.DataType) -> None:
    ids = pl.Series("unique_id", ["a", "a", "b", "b"], dtype=dtype)

    forecast = answer(prepare(pl.DataFrame({"unique_id": ids, "ds": [1, 2, 1, 2], "y": [0.0] * 4})))

    assert forecast["unique_id"].equals(ids)
    assert forecast["unique_id"].dtype == ids.dtype


def test_a_pyarrow_table_is_answered_by_one() -> None:
    table = pa.table(
        {"ds": pa.array([datetime(2024, 1, 1), datetime(2024, 1, 2)], pa.timestamp("ms")), "y": [1.0, 2.0]}
    )

    forecast = answer(prepare(table))

    assert isinstance(forecast, pa.Table)
    assert forecast.schema.field("ds").type == pa.timestamp("ms")


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_an_answer_can_be_had_in_the_other_library(kind: str, like: Any) -> None:
    frame = pl.DataFrame({"ds": pl.date_range(date(2024, 1, 1), date(2024, 1, 3), eager=True), "y": [1.0, 2.0, 3.0]})

    forecast = answer(prepare(frame.to_pandas() if kind == "pandas" else frame), like)

    assert isinstance(forecast, pd.DataFrame if like == "pandas" else pl.DataFrame)
    assert pl.DataFrame(forecast)["ds"].cast(pl.Date).to_list() == [date(2024, 1, 4), date(2024, 1, 5)]


@pytest.mark.parametrize(
    ("level", "name"),
    [
        (0.1, "0.1"),
        (0.5, "0.5"),
        (0.995, "0.995"),
        (0.999, "0.999"),
        (1e-09, "0.000000001"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1 - 1e-9, "0.999999999"),
    ],
)
def test_a_quantile_is_named_by_its_decimal(level: float, name: str) -> None:
    assert quantile_name(level) == name
    assert float(quantile_name(level)) == level


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ([80], (0.1, 0.9)),
        ([80.0], (0.1, 0.9)),
        ([95, 80], (0.025, 0.1, 0.9, 0.975)),
        ([99.8], (0.001, 0.999)),
        ([99.9], (0.0005, 0.9995)),
        ([80, 80], (0.1, 0.9)),
        ([], ()),
    ],
)
def test_a_level_in_percent_is_two_exact_quantiles(level: list[float], expected: tuple[float, ...]) -> None:
    assert levels_of(level=level) == expected


@pytest.mark.parametrize("level", [0, 100, -5, 101, float("nan")])
def test_a_level_that_bounds_no_interval_is_refused(level: float) -> None:
    with pytest.raises(ConfigError, match=f"between 0 and 100 percent, got {level}"):
        levels_of(level=[level])
