"""The id column: kept as given, in their own order; what names no series is refused."""

from typing import Any

import pandas as pd
import polars as pl
import pytest

from forecast.errors import (
    DataError,
    MissingValues,
    WrongType,
)
from forecast.frames.contract import prepare
from forecast.frames.ids import read_ids
from tests.forecast.frames.daily import SOUND, columns, days


def test_series_come_in_the_order_of_their_ids(make_frame: Any) -> None:
    panel = prepare(
        make_frame({"unique_id": ["z", "a", "z", "m"], "ds": days(0, 0, 1, 0), "y": [1.0, 2.0, 3.0, 4.0]})
    ).panel

    assert panel.ids == ("a", "m", "z")
    assert panel.values.tolist() == [2, 4, 1, 3]


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([10, -3, 2**40, 9], (-3, 9, 10, 2**40)),
        (["H10", "H9", "h1", "H1"], ("H1", "H10", "H9", "h1")),
        # A byte more of UTF-8, or a half of a pair in UTF-16, does not come before what has the lower code point.
        (["\U0001f30a", "\uff5e", "\xe9", "z", ""], ("", "z", "\xe9", "\uff5e", "\U0001f30a")),
        (pl.Series(["b", "c", "a"], dtype=pl.Enum(["c", "a", "b"])), ("a", "b", "c")),
    ],
)
def test_integers_are_ordered_by_value_and_text_by_code_point(ids: Any, expected: tuple[object, ...]) -> None:
    assert tuple(sorted(expected)) == expected
    read = read_ids(pl.Series("unique_id", ids))
    assert read.names == expected
    assert [expected[number] for number in read.series.tolist()] == list(ids)


def test_ids_in_a_named_pandas_index_are_found() -> None:
    frame = pd.DataFrame(columns(**SOUND))

    assert prepare(frame.set_index("unique_id")).panel.ids == ("a", "b")
    assert prepare(frame.set_index(["unique_id", "ds"])).panel.ids == ("a", "b")


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([7, 7, 3, 3], (3, 7)),
        (["7", "7", "07", "07"], ("07", "7")),
        (pl.Series(["x", "x", "y", "y"], dtype=pl.Categorical), ("x", "y")),
        (pl.Series(["x", "x", "y", "y"], dtype=pl.Enum(["y", "unused", "x"])), ("x", "y")),
        (pl.Series([200, 200, 3, 3], dtype=pl.UInt8), (3, 200)),
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
