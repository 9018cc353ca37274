"""The target column: any number is read and the conversion said; anything else is refused by name."""

from decimal import Decimal
from typing import Any

import polars as pl
import pytest

from forecast.errors import (
    WrongType,
)
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract, prepare
from tests.forecast.frames.daily import days


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
