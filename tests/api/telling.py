"""What tests of covariates over HTTP share: a model that is told everything, a request for it, and its frames."""

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl

from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract
from forecast.frames.covariate_columns import CovariateColumns
from forecast.frames.covariates import Covariate, CovariateSchema
from forecast.frames.features import Hour, Weekday, calendar_names
from forecast.frames.frequency import Frequency
from tests.api.asking import Body

HORIZON = 10
"""Longer than the model was trained for, so that it forecasts in two blocks."""

COLUMNS = CovariateColumns(
    past=("wind", "open", "event"), future=("price", "tariff"), static=("area", "region"), categorical=("tariff",)
)
CALENDAR = (Hour(), Weekday())
SCHEMA = CovariateSchema(
    past=(
        Covariate(name="wind"),
        Covariate(name="open"),
        Covariate(name="event", kind="categorical", levels=("fair", "match")),
    ),
    future=(Covariate(name="price"), Covariate(name="tariff", kind="categorical", levels=("1", "2"))),
    calendar=tuple(Covariate(name=name) for name in calendar_names(CALENDAR, frequency=Frequency.parse("h"))),
    static=(Covariate(name="area"), Covariate(name="region", kind="categorical", levels=("coast", "inland"))),
)
TARGETS = ("load", "wind power")

BERLIN = "Europe/Berlin"
FIRST = datetime(2024, 3, 30, tzinfo=ZoneInfo(BERLIN))
"""A day before the clocks go forward."""


def contract(*targets: str) -> DataContract:
    columns = Columns(target=targets) if targets else Columns()
    return DataContract(columns=columns, covariates=COLUMNS, calendar=CALENDAR)


def told_body(*targets: str, seed: int = 7, sizes: tuple[int, ...] = (40, 24, 31)) -> Body:
    """A request of three series, one shorter than the context, with covariates of every role and kind."""
    random = np.random.default_rng(seed)
    count, steps, ahead = len(sizes), sum(sizes), len(sizes) * HORIZON

    def numbers(length: int) -> list[Any]:
        return [round(float(value), 3) for value in random.normal(size=length)]

    def drawn(levels: list[Any], length: int) -> list[Any]:
        return [levels[place] for place in random.integers(0, len(levels), length)]

    values = {name: [round(20 + 5 * value, 3) for value in numbers(steps)] for name in targets or ("y",)}
    return {
        "zone": BERLIN,
        "horizon": HORIZON,
        "quantiles": [0.1, 0.5, 0.9],
        "series": {
            "unique_id": [f"s{number}" for number in range(count)],
            "sizes": list(sizes),
            "start": [(FIRST + timedelta(hours=number)).isoformat() for number in range(count)],
            "y": values if targets else values["y"],
            "past": {
                "wind": numbers(steps),
                "open": drawn([True, False], steps),
                "event": drawn(["fair", "match", None], steps),
                "price": numbers(steps),
                "tariff": drawn([1, 2], steps),
            },
            "static": {"area": numbers(count), "region": drawn(["coast", "inland"], count)},
        },
        "future": {"price": numbers(ahead), "tariff": drawn([1, 2], ahead)},
    }


def frames_of(body: Body) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows that an hourly request stands for, in its zone, and those of its future."""
    series, sizes = body["series"], np.array(body["series"]["sizes"])
    values = series["y"] if isinstance(series["y"], dict) else {"y": series["y"]}
    owners = np.repeat(np.arange(len(sizes)), sizes)
    steps = np.arange(len(owners)) - (np.cumsum(sizes) - sizes)[owners]
    static = {name: [cells[owner] for owner in owners] for name, cells in series["static"].items()}
    ahead = np.repeat(np.arange(len(sizes)), body["horizon"])
    later = sizes[ahead] + np.tile(np.arange(body["horizon"]), len(sizes))
    return (
        pl.DataFrame({**_keys(body, owners, steps), **values, **series["past"], **static}),
        pl.DataFrame({**_keys(body, ahead, later), **body["future"]}),
    )


def _keys(body: Body, owners: np.ndarray, steps: np.ndarray) -> dict[str, Any]:
    starts = [datetime.fromisoformat(start).astimezone(UTC) for start in body["series"]["start"]]
    stamps = [starts[owner] + timedelta(hours=int(step)) for owner, step in zip(owners, steps, strict=True)]
    local = pl.Series(stamps, dtype=pl.Datetime("us", "UTC")).dt.convert_time_zone(body["zone"])
    return {"unique_id": [body["series"]["unique_id"][owner] for owner in owners], "ds": local}


def of_series(body: Body, order: list[int]) -> Body:
    """The same request of some series only, in another order."""
    series, sizes = body["series"], body["series"]["sizes"]
    bounds = np.cumsum([0, *sizes])

    def steps(cells: list[Any]) -> list[Any]:
        return [cell for number in order for cell in cells[bounds[number] : bounds[number + 1]]]

    def ahead(cells: list[Any]) -> list[Any]:
        return [cell for number in order for cell in cells[number * HORIZON : (number + 1) * HORIZON]]

    y = series["y"]
    return body | {
        "series": {
            **{name: [series[name][number] for number in order] for name in ("unique_id", "sizes", "start")},
            "y": {name: steps(cells) for name, cells in y.items()} if isinstance(y, dict) else steps(y),
            "past": {name: steps(cells) for name, cells in reversed(series["past"].items())},
            "static": {name: [cells[number] for number in order] for name, cells in series["static"].items()},
        },
        "future": {name: ahead(cells) for name, cells in reversed(body["future"].items())},
    }
