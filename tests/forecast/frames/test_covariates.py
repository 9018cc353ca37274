"""Covariates are read by role and kind from one frame: numbers, categories, what is static, what is made of stamps."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.errors import ColumnMissing, ConfigError, DataError, MissingValues, WrongType
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract, Prepared, prepare
from forecast.frames.covariate_columns import CovariateColumns
from forecast.frames.covariates import Covariate, CovariateSchema
from forecast.frames.features import Holidays, Hour, Weekday
from tests.forecast.frames.covariate_frames import NAN, everything, history, shuffled, told, told_once


def read(frame: Any, *, schema: CovariateSchema | None = None, **roles: Any) -> Prepared:
    return prepare(frame, DataContract(covariates=CovariateColumns(**roles)), schema=schema)


def schema_of(prepared: Prepared) -> CovariateSchema:
    assert prepared.panel.covariates is not None
    return prepared.panel.covariates.schema


# ---- Roles


def test_each_role_is_read_by_its_name_and_further_columns_are_said(make_frame: Any) -> None:
    frame = make_frame(history(wind=[1.0] * 7, price=[2.0] * 7, area=[3.0] * 4 + [4.0] * 3, note=["x"] * 7))

    prepared = read(frame, past=("wind",), future=("price",), static=("area",))

    schema = schema_of(prepared)
    assert [one.name for one in schema.past] == ["wind"]
    assert [one.name for one in schema.future] == ["price"]
    assert told_once(prepared, "area") == [3.0, 4.0]
    (finding,) = prepared.report.of_kind("ignored_columns")
    assert "'note'" in finding.message


def test_covariates_stand_beside_the_steps_of_their_series(make_frame: Any) -> None:
    prepared = read(make_frame(history(price=[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5])), future=("price",))

    assert told(prepared, "price") == [[0.5, 1.5, 2.5, 3.5], [4.5, 5.5, 6.5]]


@pytest.mark.parametrize("role", ["past", "future", "static"])
def test_a_covariate_that_no_frame_has_is_refused_with_its_role(make_frame: Any, role: str) -> None:
    with pytest.raises(ColumnMissing, match=f"no frame has the {role} covariate 'price'; the columns are") as refused:
        read(make_frame(history()), **{role: ("price",)})
    assert refused.value.field == "price"


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"past": ("a",), "future": ("a",)}, "one role"),
        ({"past": ("a", "a")}, "one role"),
        ({"categorical": ("a",)}, "list these as past, future or static too: a"),
    ],
)
def test_a_column_has_one_role(roles: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CovariateColumns(**roles)


# ---- Numbers and booleans


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1, 2, 3, 4, 5, 6, 7], [[1, 2, 3, 4], [5, 6, 7]]),
        ([True, False, True, True, False, False, True], [[1, 0, 1, 1], [0, 0, 1]]),
        ([Decimal("0.5")] * 7, [[0.5] * 4, [0.5] * 3]),
        ([1.0, None, NAN, 4.0, 5.0, 6.0, 7.0], [[1, None, None, 4], [5, 6, 7]]),
        ([True, None, False, True, True, None, True], [[1, None, 0, 1], [1, None, 1]]),
    ],
)
def test_any_numbers_are_a_covariate_and_missing_ones_are_masked(make_frame: Any, cells: Any, expected: Any) -> None:
    prepared = read(make_frame(history(wind=cells)), past=("wind",))

    assert schema_of(prepared).past == (Covariate(name="wind"),)
    assert told(prepared, "wind") == expected


def test_missing_values_of_the_history_are_reported_by_series(make_frame: Any) -> None:
    prepared = read(make_frame(history(wind=[1.0, None, NAN, 4.0, 5.0, 6.0, 7.0])), past=("wind",))

    (finding,) = prepared.report.of_kind("covariate_missing")
    assert (finding.series, finding.column, finding.count, finding.first_stamp) == ("a", "wind", 2, "2024-01-02")
    assert "masked" in finding.action


def test_a_step_without_a_row_is_a_gap_of_the_series_and_no_missing_covariate() -> None:
    frame = pl.DataFrame(history(wind=[1.0] * 7)).filter(pl.col("ds") != date(2024, 1, 2))

    prepared = prepare(frame, DataContract(frequency="D", covariates=CovariateColumns(past=("wind",))))

    assert told(prepared, "wind") == [[1.0, None, 1.0, 1.0], [1.0, None, 1.0]]
    assert not prepared.report.of_kind("covariate_missing")
    assert len(prepared.report.of_kind("gaps")) == 2


def test_a_column_without_one_value_is_a_number_that_is_never_known(make_frame: Any) -> None:
    prepared = read(make_frame(history(wind=[None] * 7)), past=("wind",))

    assert told(prepared, "wind") == [[None] * 4, [None] * 3]


@pytest.mark.parametrize("role", ["past", "future", "static"])
def test_infinite_covariates_are_refused_by_name_and_the_other_series_go_on(make_frame: Any, role: str) -> None:
    frame = make_frame(history(price=[1.0, 1.0, 1.0, 1.0, 2.0, float("inf"), -float("inf")]))
    contract = DataContract(covariates=CovariateColumns(**{role: ("price",)}))

    with pytest.raises(
        MissingValues, match=r"series 'b': column 'price' has 2 infinite values, the first at 2024-01-02"
    ):
        prepare(frame, contract)
    prepared = prepare(frame, contract, on_bad_series="leave_out")

    assert prepared.panel.ids == ("a",)
    assert list(prepared.left_out) == ["b"]
    assert everything(prepared)["a"]["price"] in (1.0, [1.0] * 4)


@pytest.mark.parametrize(
    "cells",
    [[date(2024, 1, 1)] * 7, [datetime(2024, 1, 1)] * 7, pl.Series([[1.0]] * 7)],
    ids=["dates", "times", "lists"],
)
def test_what_is_neither_number_nor_category_is_refused(cells: Any) -> None:
    with pytest.raises(WrongType, match="covariate 'wind' must hold numbers, booleans or categories, it holds"):
        read(pl.DataFrame(history() | {"wind": cells}), past=("wind",))


def test_text_where_a_number_was_learnt_is_refused(make_frame: Any) -> None:
    with pytest.raises(WrongType, match=r"covariate 'wind' must hold numbers, it holds String \(7 rows, .*'x'\)"):
        read(
            make_frame(history(wind=["x"] * 7)), past=("wind",), schema=CovariateSchema(past=(Covariate(name="wind"),))
        )


# ---- Categories

LEVELS = ["sun", "rain", "sun", "snow", "rain", "rain", "sun"]
NAMES = [["sun", "rain", "sun", "snow"], ["rain", "rain", "sun"]]
ENUM = pl.Enum(["unused", "snow", "sun", "rain"])


@pytest.mark.parametrize("cells", [LEVELS, pl.Series(LEVELS, dtype=ENUM), pl.Series(LEVELS, dtype=pl.Categorical)])
def test_text_is_a_category_whose_observed_levels_are_its_vocabulary(make_frame: Any, cells: Any) -> None:
    prepared = read(make_frame(history() | {"sky": cells}), past=("sky",))

    assert schema_of(prepared).past == (Covariate(name="sky", kind="categorical", levels=("rain", "snow", "sun")),)
    assert told(prepared, "sky") == NAMES


NUMBERS = {
    "integers": [1, 2, 10, 1, 1, 2, 1],
    "small integers": pl.Series([1, 2, 10, 1, 1, 2, 1], dtype=pl.Int8),
    "whole floats": [1.0, 2.0, 10.0, 1.0, 1.0, 2.0, 1.0],
    "decimals": [
        Decimal("1.0"),
        Decimal("2.0"),
        Decimal("10.0"),
        Decimal("1.0"),
        Decimal("1.0"),
        Decimal("2.0"),
        Decimal(1),
    ],
    "text": ["1", "2", "10", "1", "1", "2", "1"],
}


@pytest.mark.parametrize("cells", NUMBERS)
def test_numbers_declared_as_categories_are_levels_by_their_value(make_frame: Any, cells: str) -> None:
    prepared = read(make_frame(history() | {"shop": NUMBERS[cells]}), past=("shop",), categorical=("shop",))

    assert told(prepared, "shop") == [["1", "2", "10", "1"], ["1", "2", "1"]]


def test_a_category_of_numbers_means_the_same_whatever_else_its_column_holds() -> None:
    learnt = schema_of(
        read(pl.DataFrame(history(shop=[1.0, 2.5, 1.0, 3.0, 1.0, 1.0, 1e300])), past=("shop",), categorical=("shop",))
    )

    prepared = read(
        pl.DataFrame(history(shop=[1, 3, 1, 1, 2, 3, 1])), past=("shop",), categorical=("shop",), schema=learnt
    )

    assert told(prepared, "shop") == [["1", "3", "1", "1"], ["UNKNOWN", "3", "1"]]
    assert learnt.past[0].num_codes == 5


def test_missing_categories_are_masked(make_frame: Any) -> None:
    prepared = read(make_frame(history(sky=["sun", None, "sun", None, None, "rain", "sun"])), past=("sky",))

    assert told(prepared, "sky") == [["sun", None, "sun", None], [None, "rain", "sun"]]
    assert {finding.series: finding.count for finding in prepared.report.of_kind("covariate_missing")} == {
        "a": 2,
        "b": 1,
    }


def test_the_vocabulary_is_frozen_and_what_it_lacks_is_unknown_with_a_finding(make_frame: Any) -> None:
    learnt = schema_of(read(make_frame(history(sky=LEVELS)), past=("sky",)))

    prepared = read(
        make_frame(history(sky=["hail", "sun", "hail", "fog", "rain", "rain", "sun"])), past=("sky",), schema=learnt
    )

    assert schema_of(prepared) == learnt
    assert told(prepared, "sky") == [["UNKNOWN", "sun", "UNKNOWN", "UNKNOWN"], ["rain", "rain", "sun"]]
    (finding,) = prepared.report.of_kind("unknown_category")
    assert (finding.column, finding.count) == ("sky", 3)


def test_codes_do_not_depend_on_which_levels_a_frame_holds(make_frame: Any) -> None:
    learnt = schema_of(read(make_frame(history(sky=LEVELS)), past=("sky",)))

    prepared = read(make_frame(history(sky=["sun"] * 7)), past=("sky",), schema=learnt)

    assert told(prepared, "sky") == [["sun"] * 4, ["sun"] * 3]


# ---- Static


def test_a_static_covariate_is_one_value_a_series_known_from_any_of_its_rows(make_frame: Any) -> None:
    frame = make_frame(history(area=[None, 5.0, NAN, 5.0, None, None, None], kind=["x"] * 4 + ["y", None, "y"]))

    prepared = read(frame, static=("area", "kind"))

    assert told_once(prepared, "area") == [5.0, None]
    assert told_once(prepared, "kind") == ["x", "y"]


@pytest.mark.parametrize("cells", [[1.0, 1.0, 2.0, 2.0, 7.0, 7.0, 7.0], ["x", "x", "z", "z", "y", "y", "y"]])
def test_a_series_whose_static_values_disagree_is_refused_by_name(make_frame: Any, cells: list[Any]) -> None:
    frame = make_frame(history(area=cells))
    contract = DataContract(covariates=CovariateColumns(static=("area",)))

    with pytest.raises(
        WrongType, match=r"series 'a': column 'area' has 2 values that differ from the others .*2024-01-0"
    ):
        prepare(frame, contract)
    assert prepare(frame, contract, on_bad_series="leave_out").panel.ids == ("b",)


# ---- Made from stamps


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Asia/Kathmandu"])
def test_calendar_columns_are_in_local_time_also_where_the_clock_changes(zone: str) -> None:
    start = datetime(2024, 3, 30, 20) if zone == "Europe/Berlin" else datetime(2024, 3, 9, 20)
    hours = pd.date_range(start, periods=12, freq="h", tz="UTC").tz_convert(zone)
    contract = DataContract(calendar=(Hour(encoding="one_hot"), Weekday(encoding="one_hot")))

    prepared = prepare(pd.DataFrame({"ds": hours, "y": 1.0}), contract, horizon=6)

    covariates = prepared.panel.covariates
    assert covariates is not None
    after = hours.union(pd.date_range(hours[-1], periods=7, freq="h"))
    columns = {
        covariate.name: values for covariate, values in zip(covariates.schema.steps, covariates.values, strict=True)
    }
    found = np.stack([columns[f"hour_{hour}"] for hour in range(24)]).argmax(axis=0)
    assert found.tolist() == after.hour.tolist()
    days = [values for name, values in columns.items() if name.startswith("weekday")]
    assert np.stack(days).argmax(axis=0).tolist() == after.dayofweek.tolist()


def test_holidays_are_known_ahead(make_frame: Any) -> None:
    frame = make_frame({"ds": [date(2024, 12, number) for number in (20, 21, 22, 23)], "y": [1.0] * 4})

    prepared = prepare(frame, DataContract(calendar=(Holidays(country="DE"),)), horizon=4)

    assert told(prepared, "holiday_DE") == [[0, 0, 0, 0, 0, 1, 1, 0]]


def test_what_means_nothing_for_integer_time_is_refused(make_frame: Any) -> None:
    with pytest.raises(ConfigError, match="'hour_sin' means nothing for integer time"):
        prepare(make_frame({"ds": [1, 2, 3], "y": [1.0, 2.0, 3.0]}), DataContract(calendar=(Hour(),)))


# ---- Several targets, and weights

TWO = Columns(target=("y", "z"))


def test_the_channels_of_an_entity_share_its_covariates(make_frame: Any) -> None:
    frame = make_frame(history(z=[9.0] * 7, wind=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], area=[1.0] * 4 + [2.0] * 3))
    contract = DataContract(columns=TWO, covariates=CovariateColumns(past=("wind",), static=("area",)))

    prepared = prepare(frame, contract)

    assert prepared.panel.ids == ("a/y", "a/z", "b/y", "b/z")
    assert told(prepared, "wind") == [[0, 1, 2, 3], [0, 1, 2, 3], [4, 5, 6], [4, 5, 6]]
    assert told_once(prepared, "area") == [1, 1, 2, 2]


@pytest.mark.parametrize(
    "fault",
    [
        {"z": [9.0] * 5 + [float("inf"), 9.0], "wind": [1.0] * 7},
        {"z": [9.0] * 7, "wind": [1.0] * 6 + [float("inf")]},
    ],
    ids=["target", "covariate"],
)
def test_an_entity_leaves_with_all_its_channels(make_frame: Any, fault: dict[str, Any]) -> None:
    contract = DataContract(columns=TWO, covariates=CovariateColumns(past=("wind",)))

    prepared = prepare(make_frame(history(**fault)), contract, on_bad_series="leave_out")

    assert prepared.panel.ids == ("a/y", "a/z")
    assert prepared.panel.channels is not None
    assert prepared.panel.channels.entities == ("a",)
    assert set(prepared.left_out) == {"b/y", "b/z"}
    assert told(prepared, "wind") == [[1.0] * 4, [1.0] * 4]


def test_weights_stand_beside_their_steps_and_a_gap_weighs_one(make_frame: Any) -> None:
    rows = {"ds": [date(2024, 1, number) for number in (4, 1, 2)], "y": [4.0, 1.0, 2.0], "w": [0.0, 3.0, 0.5]}

    prepared = prepare(make_frame(rows), DataContract(columns=Columns(weight="w")))

    assert prepared.panel.weights is not None
    assert prepared.panel.weights.tolist() == [3.0, 0.5, 1.0, 0.0]
    assert not prepared.report.of_kind("ignored_columns")


@pytest.mark.parametrize("weight", [-1.0, NAN, None, float("inf")])
def test_a_weight_that_is_none_is_refused_with_its_row(make_frame: Any, weight: float | None) -> None:
    frame = make_frame(history(w=[1.0, 1.0, weight, 1.0, weight, 1.0, 1.0]))

    with pytest.raises(
        DataError, match="column 'w' must hold a weight of 0 or more in every row; 2 do not, the first is row 2"
    ):
        prepare(frame, DataContract(columns=Columns(weight="w")))


# ---- The laws

CELLS = {
    "number": st.one_of(st.none(), st.floats(-1e9, 1e9), st.just(NAN)),
    "truth": st.one_of(st.none(), st.booleans()),
    "text": st.one_of(st.none(), st.sampled_from(["x", "y", "", "ü"])),
    "code": st.integers(0, 5),
}


@given(st.data(), st.randoms(use_true_random=False))
def test_library_and_order_of_rows_and_columns_change_nothing(data: st.DataObject, random: Any) -> None:
    cells = {name: data.draw(st.lists(kind, min_size=7, max_size=7), label=name) for name, kind in CELLS.items()}
    types = {"number": pl.Float64, "truth": pl.Boolean, "text": pl.String, "code": pl.Int64}
    columns = {name: pl.Series(values, dtype=types[name], strict=False) for name, values in cells.items()}
    frame = pl.DataFrame(history() | {"area": [1.5] * 4 + [2.5] * 3} | columns)
    roles = {"past": ("number", "code"), "future": ("truth", "text"), "static": ("area",), "categorical": ("code",)}

    prepared = read(frame, **roles)
    others = [frame.to_pandas(), shuffled(frame, random), shuffled(frame, random).to_pandas(), frame.to_arrow()]

    for other in others:
        again = read(other, **roles)
        assert schema_of(again) == schema_of(prepared)
        assert everything(again) == everything(prepared)
