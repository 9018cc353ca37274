"""Covariates of series given by start and size are laid out as those of a frame of the same rows, bit for bit."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast.errors import ColumnMissing, CovariatesMissing, MissingValues, WrongType
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract, Prepared, prepare
from forecast.frames.covariate_columns import CovariateColumns
from forecast.frames.covariates import Covariate, CovariateSchema
from forecast.frames.features import Holidays, Season, Weekday
from forecast.frames.frequency import Frequency
from forecast.frames.panel import Panel
from forecast.frames.regular import PreparedSeries, prepare_regular
from forecast.frames.regular_series import RegularSeries

HORIZON = 3
COVARIATES = CovariateColumns(
    past=("wind", "open", "event"), future=("price", "tariff"), static=("area", "region"), categorical=("tariff",)
)
CALENDAR = (Weekday(), Season(season_length=5), Holidays(country="DE"))
SCHEMA = CovariateSchema(
    past=(
        Covariate(name="wind"),
        Covariate(name="open"),
        Covariate(name="event", kind="categorical", levels=("fair", "match")),
    ),
    future=(Covariate(name="price"), Covariate(name="tariff", kind="categorical", levels=("1", "2"))),
    calendar=tuple(Covariate(name=name) for feature in CALENDAR for name in feature.names(Frequency.parse("D"))),
    static=(Covariate(name="area"), Covariate(name="region", kind="categorical", levels=("north", "south"))),
)
TYPES = dict.fromkeys(("wind", "price", "area"), pl.Float64) | {
    "open": pl.Boolean,
    "event": pl.String,
    "tariff": pl.Int64,
    "region": pl.String,
}
LEVELS: Mapping[str, tuple[Any, ...]] = {
    "open": (True, False),
    "event": ("match", "fair", "never seen"),
    "tariff": (1, 2, 3),
    "region": ("north", "west"),
}
"""What cells are drawn from; columns that are not here hold numbers."""


def several(seed: int, start: datetime, targets: tuple[str, ...], *, missing_ahead: float = 0.0) -> RegularSeries:
    """Series of random length with covariates of every role and kind; all is known ahead of the first of them."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 4))
    sizes = random.integers(1, 7, count)
    steps = int(sizes.sum())

    def cells(name: str, length: int, *, missing: float = 0.2, known: int = 0) -> pl.Series:
        drawn = random.choice(LEVELS[name], length).tolist() if name in LEVELS else random.normal(size=length).tolist()
        gaps = (random.random(length) < missing) & (np.arange(length) >= known)
        return pl.Series([None if gap else cell for cell, gap in zip(drawn, gaps, strict=True)], dtype=TYPES[name])

    return RegularSeries(
        ids=tuple(f"s{number}" for number in range(count)),
        starts=pl.Series([start] * count),
        sizes=sizes,
        values=tuple(np.where(random.random(steps) < 0.2, np.nan, random.normal(size=steps)) for _ in targets),
        past={name: cells(name, steps) for name in (*COVARIATES.past, *COVARIATES.future)},
        future={name: cells(name, count * HORIZON, missing=missing_ahead, known=HORIZON) for name in COVARIATES.future},
        static={name: cells(name, count) for name in COVARIATES.static},
    )


def contract_of(targets: tuple[str, ...], *, frequency: str, **changes: Any) -> DataContract:
    target = targets if len(targets) > 1 else targets[0]
    columns = Columns(target=target)
    return DataContract(columns=columns, frequency=frequency, covariates=COVARIATES, calendar=CALENDAR, **changes)


def read(series: RegularSeries, contract: DataContract) -> PreparedSeries:
    frequency = Frequency.parse(str(contract.frequency))
    return prepare_regular(series, frequency=frequency, contract=contract, horizon=HORIZON, schema=SCHEMA)


def read_frames(series: RegularSeries, contract: DataContract) -> Prepared:
    """What the frame entry makes of the rows that the series stand for, and of those ahead."""
    frequency = Frequency.parse(str(contract.frequency))
    bare = RegularSeries(series.ids, series.starts, series.sizes, series.values[:1])
    axis = prepare_regular(bare, frequency=frequency, contract=DataContract(), horizon=HORIZON).panel.axis
    ids = pl.Series(series.ids)
    owners = np.repeat(np.arange(len(ids)), HORIZON)
    steps = series.sizes[owners] + np.tile(np.arange(HORIZON), len(ids))
    frame = pl.DataFrame(
        {
            "unique_id": ids.gather(series.owners),
            "ds": axis.stamps_at(series.owners, steps=series.steps),
            **dict(zip(contract.columns.targets, series.values, strict=True)),
            **series.past,
            **{name: cells.gather(series.owners) for name, cells in series.static.items()},
        }
    )
    future = pl.DataFrame(
        {
            "unique_id": ids.gather(owners),
            "ds": axis.stamps_at(owners, steps=steps),
            **series.future,
        }
    )
    return prepare(frame, contract, covariates=future, horizon=HORIZON, schema=SCHEMA, on_bad_series="leave_out")


def contents(panel: Panel) -> Mapping[str, Any]:
    """All arrays and names of a panel; NaN is not among them."""
    covariates = panel.covariates
    assert covariates is not None
    stamps = [panel.axis.stamps(number, first=0, count=int(length) + 5) for number, length in enumerate(panel.lengths)]
    return {
        "names": (panel.ids, panel.channels, panel.id_type, covariates.schema, [part.to_list() for part in stamps]),
        "arrays": [
            array.tobytes()
            for array in (panel.values, panel.observed, panel.offsets, covariates.starts, covariates.lengths)
        ],
        "steps": [values.tobytes() for values in covariates.values],
        "known": [None if mask is None else mask.tobytes() for mask in covariates.observed],
        "static": (covariates.static.tobytes(), covariates.static_observed.tobytes()),
    }


BERLIN = datetime(2024, 3, 30, 22, tzinfo=ZoneInfo("Europe/Berlin"))  # the clock goes forward four hours later


@pytest.mark.parametrize("targets", [("y",), ("load", "wind power")], ids=["one target", "two targets"])
@pytest.mark.parametrize(
    ("start", "frequency"),
    [(datetime(2024, 12, 22), "D"), (BERLIN, "h"), (BERLIN, "D"), (datetime(2024, 1, 31), "ME")],
    ids=["days", "hours of Berlin", "days of Berlin", "month ends"],
)
@settings(max_examples=12)
@given(seed=st.integers(0, 2**32))
def test_the_panel_is_the_one_of_frames_of_the_same_rows(
    targets: tuple[str, ...], start: datetime, frequency: str, seed: int
) -> None:
    series = several(seed, start, targets, missing_ahead=0.02)
    contract = contract_of(targets, frequency=frequency)

    found, expected = read(series, contract), read_frames(series, contract)

    assert contents(found.panel) == contents(expected.panel)
    reported = [finding for finding in expected.report.findings if finding.kind != "left_out"]
    assert [(finding.kind, finding.series, finding.count) for finding in found.findings] == [
        (finding.kind, finding.series, finding.count) for finding in reported
    ]
    assert set(found.left_out) == {str(name).partition("/")[0] for name in expected.left_out}


def test_steps_that_are_not_known_ahead_are_listed_as_frames_list_them() -> None:
    series = several(5, datetime(2024, 12, 22), ("y",))
    series = replace(series, future={**series.future, "price": series.future["price"].scatter([4, 5], None)})

    found = read(series, contract_of(("y",), frequency="D")).left_out
    expected = read_frames(series, contract_of(("y",), frequency="D")).left_out

    assert {name: type(error) for name, error in found.items()} == {"s1": CovariatesMissing}
    message, fix = str(found["s1"]).split("; ")
    assert message == str(expected["s1"]).split("; ")[0]
    assert message.count("('s1', ") == 2
    assert fix == "give a value for each of these steps in future"
    assert (found["s1"].series, found["s1"].field) == ("s1", "price")


def test_of_several_targets_the_series_is_named_and_goes_as_a_whole() -> None:
    targets = ("load", "wind power")
    series = several(5, datetime(2024, 12, 22), targets)
    assert len(series.ids) > 1
    series.values[1][0] = np.nan

    found = read(series, contract_of(targets, frequency="D", on_missing="refuse"))

    assert isinstance(found.left_out["s0"], MissingValues)
    assert "s0/load" not in found.panel.ids
    assert found.panel.channels is None or "s0" not in found.panel.channels.entities


@pytest.mark.parametrize("targets", [("y",), ("load", "wind power")], ids=["one target", "two targets"])
def test_the_others_keep_their_cells_where_a_policy_leaves_a_series_out(targets: tuple[str, ...]) -> None:
    series = several(5, datetime(2024, 12, 22), targets)
    series = replace(series, values=tuple(np.nan_to_num(values) for values in series.values))
    series.values[-1][0] = np.nan  # one target of the first series
    contract = contract_of(targets, frequency="D", on_missing="refuse")

    found = read(series, contract)

    assert list(found.left_out) == ["s0"]
    assert "unused_covariates" not in [finding.kind for finding in found.findings]
    assert contents(found.panel) == contents(read_frames(series, contract).panel)


def test_no_series_may_be_left_where_nothing_is_known_ahead() -> None:
    series = replace(several(5, datetime(2024, 12, 22), ("y",)), future={})

    found = read(series, contract_of(("y",), frequency="D"))

    assert len(found.panel) == 0
    assert {type(error) for error in found.left_out.values()} == {CovariatesMissing}
    assert list(found.left_out) == list(series.ids)


def test_a_column_that_is_not_given_is_named() -> None:
    series = several(5, datetime(2024, 12, 22), ("y",))
    series = replace(series, static={"area": series.static["area"]})

    with pytest.raises(ColumnMissing, match="region"):
        read(series, contract_of(("y",), frequency="D"))


def test_text_in_place_of_numbers_is_refused_by_name() -> None:
    series = several(5, datetime(2024, 12, 22), ("y",))
    series = replace(series, past={**series.past, "wind": series.past["event"]})

    with pytest.raises(WrongType, match="wind"):
        read(series, contract_of(("y",), frequency="D"))


def test_a_series_is_told_the_same_alone_as_among_others() -> None:
    series = several(5, datetime(2024, 12, 22), ("y",))
    contract = contract_of(("y",), frequency="D")
    together = read(series, contract).panel

    for number in range(len(series.ids)):
        alone = series.keep(np.arange(len(series.ids)) == number)
        chosen = together.select([number])
        assert told(read(alone, contract).panel) == told(chosen)


def told(panel: Panel) -> Any:
    """All that the only series of a panel is told, wherever in the arrays it lies."""
    covariates = panel.covariates
    assert covariates is not None
    rows = slice(covariates.starts[0], covariates.starts[0] + covariates.lengths[0])
    masks = [np.ones(len(panel.values), bool) if mask is None else mask[rows] for mask in covariates.observed]
    return (
        [values[rows].tolist() for values in covariates.values],
        [bool(mask.all()) or mask.tolist() for mask in masks],
        covariates.static.tolist(),
        covariates.static_observed.tolist(),
    )
