"""Each policy of the contract, and each refusal: it names series, column, first stamp, count and fix."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from forecast.errors import (
    DataError,
    DuplicateSteps,
    GapFound,
    MissingValues,
    SeriesTooShort,
)
from forecast.frames.contract import DataContract, prepare
from tests.forecast.frames.daily import FIRST, NAN, SOUND, columns, days

# The faults that a series can have: its days and values, the error, what it says, and the contract that mends it.
FAULTS: dict[str, tuple[tuple[list[int], list[float]], type[DataError], str, Mapping[str, Any]]] = {
    "duplicates": (
        ([0, 1, 1, 2, 2], [1.0, 2.0, 4.0, 8.0, 16.0]),
        DuplicateSteps,
        r"series 'bad': column 'ds' has 2 rows for a step that has one already, the first at 2024-01-02; .*on_dup",
        {"on_duplicate": "first"},
    ),
    "gaps": (
        ([0, 1, 4, 5, 7], [1.0, 2.0, 3.0, 4.0, 5.0]),
        GapFound,
        r"series 'bad': column 'ds' has 3 absent steps, the first at 2024-01-03; .*on_gap='fill'",
        {"on_gap": "fill"},
    ),
    "missing": (
        ([0, 1, 2, 3], [1.0, NAN, NAN, 4.0]),
        MissingValues,
        r"series 'bad': column 'y' has 2 missing values, the first at 2024-01-02; .*on_missing='mask'",
        {"on_missing": "mask"},
    ),
    "short": (
        ([5], [1.0]),
        SeriesTooShort,
        r"series 'bad': column 'ds' has 1 steps where 2 are needed, the first at 2024-01-06; .*on_short",
        {"on_short": "keep"},
    ),
    "infinite": (
        ([0, 1, 2], [1.0, float("inf"), -float("inf")]),
        MissingValues,
        r"series 'bad': column 'y' has 2 infinite values, the first at 2024-01-02; replace them",
        {},
    ),
}
STRICT = DataContract(on_gap="refuse", on_missing="refuse", on_short="refuse")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_raises_and_names_series_column_stamp_count_and_fix(make_frame: Any, fault: str) -> None:
    series, error, message, _ = FAULTS[fault]

    with pytest.raises(error, match=message) as caught:
        prepare(make_frame(columns(good=([0, 1, 2], [1.0, 2.0, 3.0]), bad=series)), STRICT)

    assert caught.value.series == "bad"
    assert caught.value.field in ("ds", "y")


@pytest.mark.parametrize("fault", FAULTS)
def test_the_other_series_go_on_where_the_bad_one_is_left_out(make_frame: Any, fault: str) -> None:
    series, error, *_ = FAULTS[fault]

    frame = make_frame(columns(bad=series, good=([0, 1, 2], [1.0, 2.0, 3.0])))
    prepared = prepare(frame, STRICT, on_bad_series="leave_out")

    assert prepared.panel.ids == ("good",)
    assert prepared.panel.values.tolist() == [1, 2, 3]
    assert prepared.panel.axis.stamps(0, first=0, count=1).to_list() == [FIRST]
    assert list(prepared.left_out) == ["bad"]
    assert isinstance(prepared.left_out["bad"], error)
    (finding,) = prepared.report.of_kind("left_out")
    assert finding.series == "bad"


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "infinite"])
def test_a_policy_mends_the_fault_and_reports_it(make_frame: Any, fault: str) -> None:
    series, _, _, policy = FAULTS[fault]

    prepared = prepare(make_frame(columns(good=([0, 1, 2], [1.0, 2.0, 3.0]), bad=series)), DataContract(**policy))

    assert prepared.panel.ids == ("bad", "good")
    (finding,) = prepared.report.of_kind(fault)
    assert finding.series == "bad"
    assert finding.count in (1, 2, 3)


def test_an_error_counts_the_other_series_at_fault() -> None:
    frame = pl.DataFrame(columns(a=([0, 0], [1.0, 2.0]), b=([0, 1], [1.0, 2.0]), c=([1, 1], [1.0, 2.0])))

    with pytest.raises(DuplicateSteps, match=r"series 'a'(.|\n)*1 more series are out: 'c'"):
        prepare(frame)


def test_an_error_is_raised_where_no_series_is_left() -> None:
    frame = pl.DataFrame(columns(a=([0, 1, 1], [1.0, 2.0, 3.0]), b=([0, 1, 0], [1.0, 2.0, 3.0])))

    with pytest.raises(DuplicateSteps, match="1 more series"):
        prepare(frame, on_bad_series="leave_out")


def test_duplicates_in_a_frame_without_ids_hint_at_the_id_column() -> None:
    frame = pl.DataFrame({"store": ["a", "a", "b", "b"], "ds": days(0, 1, 0, 1), "y": [1.0] * 4})

    with pytest.raises(DuplicateSteps, match=r"name the id column: columns\.id"):
        prepare(frame)


@pytest.mark.parametrize(
    ("policy", "expected"), [("first", [1.0, 2.0, 8.0]), ("last", [1.0, 4.0, 16.0]), ("mean", [1.0, 3.0, 12.0])]
)
def test_duplicates_are_merged_by_the_order_of_their_rows(make_frame: Any, policy: Any, expected: list[float]) -> None:
    series, *_ = FAULTS["duplicates"]

    assert prepare(make_frame(columns(a=series)), DataContract(on_duplicate=policy)).panel.values.tolist() == expected


def test_the_mean_of_duplicates_is_that_of_the_observed_ones() -> None:
    frame = pl.DataFrame(columns(a=([0, 0, 1, 1], [1.0, NAN, NAN, NAN])))

    panel = prepare(frame, DataContract(on_duplicate="mean")).panel

    assert panel.values.tolist() == [1.0, 0.0]
    assert panel.observed.tolist() == [True, False]


def test_gaps_and_missing_values_are_unobserved_zeros(make_frame: Any) -> None:
    panel = prepare(make_frame(columns(a=([0, 1, 2, 5], [1.0, 2.0, NAN, 4.0])))).panel

    assert panel.values.tolist() == [1, 2, 0, 0, 0, 4]
    assert panel.observed.tolist() == [True, True, False, False, False, True]


def test_nan_and_null_are_the_same(make_frame: Any) -> None:
    panel = prepare(make_frame({"ds": days(0, 1, 2), "y": [None, NAN, 3.0]})).panel

    assert panel.observed.tolist() == [False, False, True]


def test_a_series_without_one_value_goes_on_and_is_said(make_frame: Any) -> None:
    prepared = prepare(make_frame(columns(a=([0, 1, 2], [NAN] * 3), b=([0, 1], [1.0, 2.0]))))

    assert prepared.panel.ids == ("a", "b")
    (finding,) = prepared.report.of_kind("missing")
    assert (finding.series, finding.count) == ("a", 3)


def test_short_series_can_be_dropped_and_are_listed(make_frame: Any) -> None:
    contract = DataContract(on_short="drop", min_length=3)

    prepared = prepare(make_frame(columns(**SOUND)), contract)

    assert prepared.panel.ids == ("a",)
    assert isinstance(prepared.left_out["b"], SeriesTooShort)
    assert [finding.series for finding in prepared.report.of_kind("left_out")] == ["b"]


def test_when_every_series_is_short_the_length_needed_is_named() -> None:
    with pytest.raises(SeriesTooShort, match="where 10 are needed"):
        prepare(pl.DataFrame(columns(**SOUND)), DataContract(on_short="drop", min_length=10))


def test_a_fault_is_told_before_what_a_policy_drops() -> None:
    frame = pl.DataFrame(columns(short=([0], [1.0]), doubled=([0, 1, 1], [1.0] * 3), good=([0, 1], [1.0, 2.0])))

    with pytest.raises(DuplicateSteps, match="series 'doubled'"):
        prepare(frame, DataContract(on_short="drop"))


def test_constant_series_are_said() -> None:
    prepared = prepare(
        pl.DataFrame(columns(flat=([0, 1, 2], [5.0, NAN, 5.0]), b=([0, 1], [1.0, 2.0]), one=([0], [1.0])))
    )

    (finding,) = prepared.report.of_kind("constant")
    assert finding.series == "flat"
