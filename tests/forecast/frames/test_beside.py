"""A second frame of covariates is matched by id and time: missing pairs are listed, what fits nowhere is noticed."""

from datetime import datetime
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.errors import ColumnMissing, CovariatesMissing, DuplicateSteps, MissingValues, WrongType
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract, Prepared, prepare
from forecast.frames.covariate_columns import CovariateColumns
from tests.forecast.frames.covariate_frames import ENDS, NAN, ahead, day, everything, history, shuffled, told, told_once

PRICE = DataContract(covariates=CovariateColumns(future=("price",)))
KNOWN = history(price=[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
FUTURE = ahead(2, price=[10.0, 11.0, 20.0, 21.0])
TOLD = [[0, 1, 2, 3, 10, 11], [4, 5, 6, 20, 21]]


def read(frame: Any, covariates: Any, contract: DataContract = PRICE, *, horizon: int = 2, **options: Any) -> Prepared:
    return prepare(frame, contract, covariates=covariates, horizon=horizon, **options)


def without(columns: dict[str, list[Any]], *rows: int) -> dict[str, list[Any]]:
    return {name: [cell for row, cell in enumerate(cells) if row not in rows] for name, cells in columns.items()}


def joined(*parts: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: [cell for part in parts for cell in part[name]] for name in parts[0]}


# ---- Matched by key


def test_the_steps_after_each_end_are_told_by_the_second_frame(make_frame: Any) -> None:
    prepared = read(make_frame(KNOWN), make_frame(FUTURE))

    assert told(prepared, "price") == TOLD
    assert prepared.report.findings == ()


def test_the_two_frames_need_not_be_of_one_library() -> None:
    assert told(read(pl.DataFrame(KNOWN), pd.DataFrame(FUTURE)), "price") == TOLD
    assert told(read(pd.DataFrame(KNOWN), pl.DataFrame(FUTURE)), "price") == TOLD


def test_the_second_frame_may_hold_the_history_too(make_frame: Any) -> None:
    everything_known = joined({name: KNOWN[name] for name in ("unique_id", "ds", "price")}, FUTURE)

    assert told(read(make_frame(history()), make_frame(everything_known)), "price") == TOLD


def test_rows_of_the_series_count_before_those_beside_them_and_a_gap_is_told_by_the_second_frame() -> None:
    beside = {name: KNOWN[name] for name in ("unique_id", "ds")} | {"price": [-1.0] * 7}
    contract = DataContract(frequency="D", covariates=CovariateColumns(future=("price",)))

    prepared = read(pl.DataFrame(without(KNOWN, 1)), pl.DataFrame(joined(beside, FUTURE)), contract)

    assert told(prepared, "price") == [[0, -1, 2, 3, 10, 11], [4, 5, 6, 20, 21]]


def test_a_frame_without_ids_is_about_every_series(make_frame: Any) -> None:
    frame = {"ds": [day(number) for number in range(6)], "price": [float(number) for number in range(6)]}

    prepared = read(make_frame(history()), make_frame(frame))

    assert told(prepared, "price") == [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4]]
    assert prepared.report.findings == ()  # the sixth day is past the horizon of `b` and still not in vain


def test_the_key_has_the_names_that_it_has_in_the_first_frame_or_usual_ones(make_frame: Any) -> None:
    renamed = {{"unique_id": "item_id", "ds": "timestamp"}.get(name, name): cells for name, cells in FUTURE.items()}

    assert told(read(make_frame(KNOWN), make_frame(renamed)), "price") == TOLD


def test_without_a_time_column_it_is_refused(make_frame: Any) -> None:
    with pytest.raises(ColumnMissing, match="the frame has no time column 'ds'; it has 'unique_id', 'price'"):
        read(make_frame(KNOWN), make_frame({name: FUTURE[name] for name in ("unique_id", "price")}))


def test_what_is_static_may_stand_in_the_second_frame(make_frame: Any) -> None:
    frame = ahead(2, area=[1.0, None, 2.0, 2.0], kind=["x", "x", None, None])
    contract = DataContract(covariates=CovariateColumns(static=("area", "kind")))

    prepared = read(make_frame(history()), make_frame(frame), contract)

    assert told_once(prepared, "area") == [1.0, 2.0]
    assert told_once(prepared, "kind") == ["x", None]


def test_static_values_of_the_second_frame_that_disagree_are_refused_by_name() -> None:
    contract = DataContract(covariates=CovariateColumns(static=("area",)))

    with pytest.raises(WrongType, match=r"series 'b': column 'area' has 1 values that differ .* at 2024-01-05"):
        read(pl.DataFrame(history()), pl.DataFrame(ahead(2, area=[1.0, 1.0, 2.0, 3.0])), contract)


# ---- What is missing


def test_without_a_second_frame_every_pair_is_missing(make_frame: Any) -> None:
    with pytest.raises(CovariatesMissing, match="series 'a'") as refused:
        read(make_frame(KNOWN), None)

    message = str(refused.value)
    assert "'price' must be known for the 2 steps of the horizon and is not at 2 of them" in message
    assert "('a', 2024-01-05), ('a', 2024-01-06)" in message
    assert "make_future_frame" in message
    assert "1 more series are out: 'b'" in message


@pytest.mark.parametrize("rows", [(2,), (3,), (2, 3)])
def test_missing_pairs_are_listed_and_the_other_series_go_on(make_frame: Any, rows: tuple[int, ...]) -> None:
    prepared = read(make_frame(KNOWN), make_frame(without(FUTURE, *rows)), on_bad_series="leave_out")

    assert prepared.panel.ids == ("a",)
    assert told(prepared, "price") == TOLD[:1]
    listed = ", ".join(f"('b', {day(ENDS['b'] + row - 2)})" for row in rows)
    assert f"is not at {len(rows)} of them: {listed};" in str(prepared.left_out["b"])


@pytest.mark.parametrize("cell", [None, NAN])
def test_a_cell_without_a_value_is_missing_like_a_row(make_frame: Any, cell: float | None) -> None:
    future = FUTURE | {"price": [10.0, 11.0, 20.0, cell]}

    prepared = read(make_frame(KNOWN), make_frame(future), on_bad_series="leave_out")

    assert "('b', 2024-01-05)" in str(prepared.left_out["b"])


def test_many_missing_pairs_are_counted() -> None:
    with pytest.raises(CovariatesMissing, match=r"is not at 30 of them: .*\('a', 2024-01-09\) and 25 more;"):
        read(pl.DataFrame(KNOWN), None, horizon=30)


def test_pairs_of_an_entity_of_several_targets_name_the_entity() -> None:
    contract = DataContract(columns=Columns(target=("y", "z")), covariates=CovariateColumns(future=("price",)))
    frame = pl.DataFrame(KNOWN).with_columns(z=pl.lit(1.0))

    prepared = read(frame, pl.DataFrame(without(FUTURE, 3)), contract, on_bad_series="leave_out")

    assert prepared.panel.ids == ("a/y", "a/z")
    assert told(prepared, "price") == [TOLD[0]] * 2
    assert "series 'b': 'price' must be known" in str(prepared.left_out["b/z"])
    assert "('b', 2024-01-05)" in str(prepared.left_out["b/y"])


def test_past_covariates_need_no_future_and_are_unknown_there(make_frame: Any) -> None:
    contract = DataContract(covariates=CovariateColumns(past=("price",)))

    assert told(read(make_frame(KNOWN), None, contract), "price") == [[0, 1, 2, 3, None, None], [4, 5, 6, None, None]]


def test_infinite_values_ahead_are_refused_by_name(make_frame: Any) -> None:
    future = FUTURE | {"price": [10.0, 11.0, float("inf"), 21.0]}

    with pytest.raises(
        MissingValues, match="series 'b': column 'price' has 1 infinite values, the first at 2024-01-04"
    ):
        read(make_frame(KNOWN), make_frame(future))


# ---- What fits nowhere

EXTRA = {
    "past the horizon": (
        {"unique_id": ["a", "a"], "ds": [day(6), day(7)]},
        2,
        "rows of covariates lie past the horizon",
    ),
    "before the start": ({"unique_id": ["b"], "ds": [day(-1)]}, 1, "rows of covariates lie before the start"),
    "of other series": ({"unique_id": ["z", "y"], "ds": [day(6), day(4)]}, 2, "are of series that are not here"),
}


@pytest.mark.parametrize("where", EXTRA)
def test_rows_that_fit_nowhere_are_dropped_with_a_notice(make_frame: Any, where: str) -> None:
    extra, count, what = EXTRA[where]

    prepared = read(make_frame(KNOWN), make_frame(joined(extra | {"price": [-9.0] * count}, FUTURE)))

    assert told(prepared, "price") == TOLD
    (finding,) = prepared.report.findings
    assert (finding.kind, finding.count, finding.action) == ("unused_covariates", count, "not used")
    assert what in finding.message
    assert finding.first_stamp == str(min(extra["ds"]))


def test_rows_between_the_steps_are_dropped_with_a_notice_and_so_missing() -> None:
    weeks = [datetime(2024, 1, 1), datetime(2024, 1, 8), datetime(2024, 1, 15)]
    frame = pl.DataFrame({"ds": weeks, "y": [1.0, 2.0, 3.0], "price": [1.0, 2.0, 3.0]})

    with pytest.raises(CovariatesMissing, match=r"\('series', 2024-01-22 00:00:00\)"):
        read(frame, pl.DataFrame({"ds": [datetime(2024, 1, 23)], "price": [4.0]}), horizon=1)
    prepared = read(
        frame, pl.DataFrame({"ds": [datetime(2024, 1, 22), datetime(2024, 1, 23)], "price": [4.0, 5.0]}), horizon=1
    )

    assert told(prepared, "price") == [[1, 2, 3, 4]]
    (finding,) = prepared.report.of_kind("unused_covariates")
    assert "1 rows of covariates are not on a step of their series, the first at 2024-01-23" in finding.message


@pytest.mark.parametrize("policy", ["first", "last", "mean"])
def test_rows_that_share_a_step_are_settled_by_the_policy(make_frame: Any, policy: Any) -> None:
    twice = joined(FUTURE, {"unique_id": ["b"], "ds": [day(4)], "price": [-1.0]})
    contract = DataContract(on_duplicate=policy, covariates=CovariateColumns(future=("price",)))

    prepared = read(make_frame(KNOWN), make_frame(twice), contract)

    assert told(prepared, "price") == [TOLD[0], [4, 5, 6, 20, -1 if policy == "last" else 21]]
    (finding,) = prepared.report.of_kind("duplicates")
    assert (finding.series, finding.count, finding.first_stamp) == ("b", 1, "2024-01-05")


def test_rows_that_share_a_step_are_refused_by_default_and_the_other_series_go_on(make_frame: Any) -> None:
    twice = make_frame(joined(FUTURE, {"unique_id": ["b"], "ds": [day(4)], "price": [21.0]}))

    with pytest.raises(
        DuplicateSteps, match=r"series 'b': 1 rows of covariates for a step .* the first at 2024-01-05; .*on_dup"
    ):
        read(make_frame(KNOWN), twice)
    assert read(make_frame(KNOWN), twice, on_bad_series="leave_out").panel.ids == ("a",)


# ---- Written otherwise


def test_ids_of_another_type_are_refused_rather_than_found_nowhere(make_frame: Any) -> None:
    with pytest.raises(WrongType, match="the ids of the covariates are int and those of the series are str"):
        read(make_frame(KNOWN), make_frame(FUTURE | {"unique_id": [1, 1, 2, 2]}))


HOURS = pd.date_range("2024-03-30 20:00", periods=10, freq="h", tz="Europe/Berlin")


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Europe/Berlin"])
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_instants_are_the_same_in_any_zone_and_unit(zone: str, unit: Any) -> None:
    frame = pd.DataFrame({"ds": HOURS[:7], "y": 1.0, "price": range(7)})
    future = pd.DataFrame({"ds": HOURS[7:].tz_convert(zone).as_unit(unit), "price": range(7, 10)})

    assert told(read(frame, future, horizon=3), "price") == [list(range(10))]


def test_stamps_with_a_zone_are_not_matched_with_stamps_without_one() -> None:
    frame = pd.DataFrame({"ds": HOURS[:7], "y": 1.0, "price": range(7)})

    with pytest.raises(
        WrongType, match=r"the stamps of the covariates are .* and those of the series .* with a zone or without"
    ):
        read(frame, pd.DataFrame({"ds": HOURS[7:].tz_localize(None), "price": range(7, 10)}), horizon=3)


def test_local_times_are_read_in_the_zone_and_text_in_the_format_of_the_contract() -> None:
    texts = HOURS.tz_localize(None).strftime("%d/%m/%Y %H:%M")
    contract = DataContract(zone="Europe/Berlin", time_format="%d/%m/%Y %H:%M", covariates=PRICE.covariates)
    frame = pd.DataFrame({"ds": texts[:7], "y": 1.0, "price": range(7)})

    prepared = read(frame, pd.DataFrame({"ds": texts[7:], "price": range(7, 10)}), contract, horizon=3)

    assert told(prepared, "price") == [list(range(10))]


@pytest.mark.parametrize("stamps", [[None, day(5), day(3), day(4)], ["2024-01-05", "soon", "2024-01-04", "2024-01-05"]])
def test_a_row_without_a_readable_stamp_is_refused(make_frame: Any, stamps: list[Any]) -> None:
    with pytest.raises(
        WrongType, match="column 'ds' of the covariates has 1 rows without a readable stamp, the first is row"
    ):
        read(make_frame(KNOWN), make_frame(FUTURE | {"ds": stamps}))


def test_an_empty_second_frame_knows_nothing() -> None:
    prepared = read(pl.DataFrame(KNOWN), pl.DataFrame(FUTURE).clear(), horizon=0)

    assert told(prepared, "price") == [[0, 1, 2, 3], [4, 5, 6]]
    with pytest.raises(CovariatesMissing):
        read(pl.DataFrame(KNOWN), pl.DataFrame(FUTURE).clear())


# ---- The law


@given(
    st.lists(st.sampled_from([*range(14)]), max_size=8, unique=True),
    st.sets(st.sampled_from([*range(14)]), max_size=3),
    st.randoms(use_true_random=False),
)
def test_library_and_order_of_rows_and_columns_change_nothing(extra: list[int], holes: set[int], random: Any) -> None:
    horizon = 5
    prices = [float(number) for number in range(2 * horizon)]
    future = pl.DataFrame(ahead(horizon, price=prices, sky=["sun", "rain"] * horizon)).filter(
        ~pl.Series([row in holes for row in range(2 * horizon)])
    )
    strays = {"unique_id": ["c"] * len(extra), "ds": [day(number) for number in extra]}
    strays = pl.DataFrame(strays | {"price": [0.5] * len(extra), "sky": ["fog"] * len(extra)}, schema=future.schema)
    # As datetimes, because pandas has no dates and would write them otherwise in messages.
    frame, future = (
        part.with_columns(pl.col("ds").cast(pl.Datetime("us")))
        for part in (pl.DataFrame(history()), pl.concat([future, strays]))
    )
    contract = DataContract(covariates=CovariateColumns(past=("sky",), future=("price",)))
    if {row // horizon for row in holes if row < 2 * horizon} == {0, 1}:
        return  # every series lacks a pair

    found = read(frame, future, contract, horizon=horizon, on_bad_series="leave_out")
    others = [(frame.to_pandas(), future.to_pandas()), (shuffled(frame, random), shuffled(future, random))]
    for one, other in others:
        again = read(one, other, contract, horizon=horizon, on_bad_series="leave_out")
        assert everything(again) == everything(found)
        assert set(map(str, again.left_out.values())) == set(map(str, found.left_out.values()))
        assert set(again.report.findings) - set(again.report.of_kind("reordered")) == set(found.report.findings)
