"""Each policy of the contract, and each refusal: it names series, column, first stamp, count and fix."""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from forecast.errors import (
    DataError,
    DuplicateSteps,
    FrequencyError,
    GapFound,
    MissingValues,
    SeriesTooShort,
    WrongType,
)
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract, prepare

FIRST = date(2024, 1, 1)
NAN = float("nan")


def days(*numbers: int) -> list[date]:
    return [FIRST + timedelta(days=number) for number in numbers]


def columns(**series: tuple[list[int], list[float]]) -> dict[str, list[Any]]:
    """Give the columns of a frame: for each series its days and its values."""
    return {
        "unique_id": [name for name, (numbers, _) in series.items() for _ in numbers],
        "ds": [day for numbers, _ in series.values() for day in days(*numbers)],
        "y": [value for _, values in series.values() for value in values],
    }


SOUND = {"a": ([0, 1, 2], [1.0, 2.0, 3.0]), "b": ([0, 1], [4.0, 5.0])}


def test_a_plain_frame_becomes_one_array_for_all_series(make_frame: Any) -> None:
    panel = prepare(make_frame(columns(**SOUND))).panel

    assert panel.ids == ("a", "b")
    assert panel.values.tolist() == [1, 2, 3, 4, 5]
    assert panel.observed.all()
    assert panel.offsets.tolist() == [0, 3, 5]
    assert panel.axis.frequency.text == "D"


def test_series_keep_the_order_of_their_first_row(make_frame: Any) -> None:
    panel = prepare(
        make_frame({"unique_id": ["z", "a", "z", "m"], "ds": days(0, 0, 1, 0), "y": [1.0, 2.0, 3.0, 4.0]})
    ).panel

    assert panel.ids == ("z", "a", "m")
    assert panel.values.tolist() == [1, 3, 2, 4]


def test_unsorted_rows_are_sorted_and_said(make_frame: Any) -> None:
    prepared = prepare(make_frame({"ds": days(2, 0, 1), "y": [3.0, 1.0, 2.0]}))

    assert prepared.panel.values.tolist() == [1, 2, 3]
    (finding,) = prepared.report.of_kind("reordered")
    assert finding.count == 1


def test_a_frame_without_ids_is_one_series(make_frame: Any) -> None:
    assert prepare(make_frame({"ds": days(0, 1), "y": [1.0, 2.0]})).panel.ids == ("series",)


def test_ids_in_a_named_pandas_index_are_found() -> None:
    frame = pd.DataFrame(columns(**SOUND))

    assert prepare(frame.set_index("unique_id")).panel.ids == ("a", "b")
    assert prepare(frame.set_index(["unique_id", "ds"])).panel.ids == ("a", "b")


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([7, 7, 3, 3], (7, 3)),
        (["7", "7", "07", "07"], ("7", "07")),
        (pl.Series(["x", "x", "y", "y"], dtype=pl.Categorical), ("x", "y")),
        (pl.Series(["x", "x", "y", "y"], dtype=pl.Enum(["y", "unused", "x"])), ("x", "y")),
        (pl.Series([200, 200, 3, 3], dtype=pl.UInt8), (200, 3)),
    ],
)
def test_ids_are_kept_as_given(make_frame: Any, ids: Any, expected: tuple[object, ...]) -> None:
    panel = prepare(make_frame({"unique_id": ids, "ds": days(0, 1, 0, 1), "y": [1.0] * 4})).panel

    assert panel.ids == expected
    assert [type(name) for name in panel.ids] == [type(name) for name in expected]


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (["a", None, None], MissingValues, "column 'unique_id' has no id in 2 rows, the first is row 1"),
        ([1.5, 2.5, 2.5], WrongType, "column 'unique_id' must name the series by text or integers, it holds Float64"),
        (days(0, 1, 2), WrongType, "it holds Date"),
    ],
)
def test_ids_that_name_no_series_are_refused(
    make_frame: Any, ids: list[object], error: type[DataError], message: str
) -> None:
    with pytest.raises(error, match=message):
        prepare(make_frame({"unique_id": ids, "ds": days(0, 1, 2), "y": [1.0] * 3}))


def test_ids_of_mixed_types_are_refused_by_name() -> None:
    frame = pd.DataFrame({"unique_id": ["a", 1], "ds": days(0, 1), "y": [1.0, 2.0]})

    with pytest.raises(WrongType, match="column 'unique_id' cannot be read"):
        prepare(frame)


@pytest.mark.parametrize(
    ("target", "expected", "converted"),
    [
        ([1, 2, 4], [1.0, 2.0, 4.0], True),
        ([True, False, True], [1.0, 0.0, 1.0], True),
        ([Decimal("0.1"), Decimal("0.25"), Decimal("3.0")], [0.1, 0.25, 3.0], True),
        (pl.Series([1.5, 2.5, 3.5], dtype=pl.Float32), [1.5, 2.5, 3.5], False),
        (pl.Series([1, 2, 3], dtype=pl.UInt8), [1.0, 2.0, 3.0], True),
    ],
)
def test_any_number_is_a_target_and_a_conversion_is_said(
    make_frame: Any, target: Any, expected: list[float], converted: bool
) -> None:
    prepared = prepare(make_frame({"ds": days(0, 1, 2), "y": target}))

    assert prepared.panel.values.tolist() == expected
    assert bool(prepared.report.of_kind("converted")) == converted


def test_integers_that_float64_cannot_hold_are_said() -> None:
    prepared = prepare(pl.DataFrame({"ds": [1, 2, 3], "y": [2**53, 2**53 + 1, -(2**60) - 1]}))

    (finding,) = prepared.report.of_kind("rounded")
    assert finding.count == 2


@pytest.mark.parametrize("target", [["1.5", "2.5"], days(0, 1), pl.Series(["1", "2"], dtype=pl.Categorical)])
def test_a_target_that_is_no_number_is_refused_by_name(make_frame: Any, target: Any) -> None:
    with pytest.raises(WrongType, match=r"column 'sales' must hold numbers, it holds .* \(2 rows, the first is"):
        prepare(make_frame({"ds": days(0, 1), "sales": target}), DataContract(columns=Columns(target="sales")))


def test_further_columns_are_said_to_be_ignored(make_frame: Any) -> None:
    prepared = prepare(make_frame(columns(**SOUND) | {"price": [1.0] * 5, "promo": [True] * 5}))

    (finding,) = prepared.report.of_kind("ignored_columns")
    assert "'price', 'promo'" in finding.message


def test_a_frame_without_rows_is_refused(make_frame: Any) -> None:
    with pytest.raises(DataError, match="holds no rows"):
        prepare(make_frame({"unique_id": [], "ds": [], "y": []}))


def test_what_is_no_frame_is_refused() -> None:
    with pytest.raises(WrongType, match="a frame of pandas or polars or a pyarrow table is needed, got dict"):
        prepare({"ds": [1], "y": [2]})


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

    assert prepared.panel.ids == ("good", "bad")
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


@pytest.mark.parametrize(
    ("given", "numbers", "message"),
    [
        ("W", [0, 7, 14], "frequency 'W-SUN' contradicts the stamps: 3 of 3 rows.*they step by 'W-MON'"),
        ("MS", [30, 59, 90], "they step by 'ME'"),
        ("ME", [0, 31, 60], "they step by 'MS'"),
        ("QS", [31, 121, 213], "they step by 'QS-FEB'"),
        ("D", [0, 7, 14], None),
        ("B", [4, 5, 6], "contradicts the stamps: 2 of 3 rows.*the first at 2024-01-06.*they step by 'D'"),
        ("1w", [0, 7, 14], None),
        ("1mo", [14, 45, 74], None),
        ("2D", [0, 1, 2], "they step by 'D'"),
    ],
)
def test_a_given_frequency_wins_unless_the_stamps_contradict_it(
    make_frame: Any, given: str, numbers: list[int], message: str | None
) -> None:
    frame = make_frame(columns(a=(numbers, [1.0, 2.0, 3.0])))

    if message is None:
        assert prepare(frame, DataContract(frequency=given)).panel.axis.frequency.text == given
        return
    with pytest.raises(FrequencyError, match=message):
        prepare(frame, DataContract(frequency=given))


def test_all_series_vote_on_the_frequency() -> None:
    frame = pl.DataFrame(
        columns(
            gaps=([0, 2, 4, 9], [1.0, 2.0, 3.0, 4.0]),
            single=([3], [1.0]),
            pair=([0, 2], [1.0, 2.0]),
            daily=(list(range(10)), [1.0] * 10),
        )
    )

    panel = prepare(frame).panel

    assert panel.axis.frequency.text == "D"
    assert panel.lengths.tolist() == [10, 1, 3, 10]


def test_duplicates_in_one_series_leave_the_frequency_alone() -> None:
    frame = pl.DataFrame(columns(doubled=([0, 0, 0, 1, 1], [1.0] * 5), b=([0, 1, 2], [1.0] * 3)))

    assert prepare(frame, DataContract(on_duplicate="first")).panel.axis.frequency.text == "D"


def test_a_series_with_a_frequency_of_its_own_is_refused_with_both_spellings() -> None:
    frame = pl.DataFrame(columns(daily=(list(range(30)), [1.0] * 30), weekly=([0, 7, 14, 21], [1.0] * 4)))

    with pytest.raises(
        FrequencyError, match=r"series 'weekly': .*step by 'W-MON' where the frame steps by 'D'.*frequency='D'"
    ):
        prepare(frame)
    assert prepare(frame, DataContract(frequency="D")).panel.lengths.tolist() == [30, 22]


@pytest.mark.parametrize("stray", [0, 3, 9])
def test_a_stray_stamp_is_the_one_that_is_named(stray: int) -> None:
    stamps = [pd.Timestamp(FIRST) + pd.Timedelta(hours=hour, minutes=17 * (hour == stray)) for hour in range(10)]

    with pytest.raises(
        FrequencyError, match=rf"1 stamps that are not on the steps of 'h', the first at {stamps[stray]}"
    ):
        prepare(pd.DataFrame({"ds": stamps, "y": 1.0}))


@pytest.mark.parametrize("numbers", [[0], [0, 0]])
def test_a_frequency_that_cannot_be_read_must_be_given(numbers: list[int]) -> None:
    frame = pl.DataFrame(columns(a=(numbers, [1.0] * len(numbers))))
    contract = DataContract(on_duplicate="last")

    with pytest.raises(FrequencyError, match="no series has two different stamps; give it"):
        prepare(frame, contract)
    assert prepare(frame, DataContract(on_duplicate="last", frequency="D")).panel.lengths.tolist() == [1]


def test_a_report_prints_well_and_is_plain() -> None:
    many = {f"s{number}": ([0, 1, 3], [1.0, 2.0, NAN]) for number in range(5)}

    report = prepare(pl.DataFrame(columns(**many))).report

    assert str(report).splitlines()[0] == "15 rows, 5 series, 20 steps of D, 2024-01-01 to 2024-01-04"
    assert "series 's0': column 'ds' has 1 absent steps, the first at 2024-01-03: filled as unobserved" in str(report)
    assert "gaps: and 2 more series" in str(report)
    assert report.to_plain()["findings"][0]["series"] == "s0"


def test_a_configuration_reads_the_contract_strictly() -> None:
    with pytest.raises(ValueError, match="on_duplicate"):
        DataContract(on_duplicate="ignore")
    with pytest.raises(ValueError, match="min_length"):
        DataContract(min_length=0)


def test_preparing_a_frame_leaves_it_as_it_was() -> None:
    frame = pd.DataFrame(columns(a=([1, 0, 2], [2.0, NAN, 3.0])))
    before = frame.copy(deep=True)

    panel = prepare(frame).panel

    pd.testing.assert_frame_equal(frame, before)
    assert not np.shares_memory(panel.values, frame["y"].to_numpy())
