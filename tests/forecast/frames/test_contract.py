"""From a frame of any library to a panel: what plays no part, what is no frame, and what the report says."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from forecast.errors import (
    DataError,
    WrongType,
)
from forecast.frames.contract import DataContract, prepare
from tests.forecast.frames.daily import NAN, SOUND, columns, days


def test_a_plain_frame_becomes_one_array_for_all_series(make_frame: Any) -> None:
    panel = prepare(make_frame(columns(**SOUND))).panel

    assert panel.ids == ("a", "b")
    assert panel.values.tolist() == [1, 2, 3, 4, 5]
    assert panel.observed.all()
    assert panel.offsets.tolist() == [0, 3, 5]
    assert panel.axis.frequency.text == "D"


def test_unsorted_rows_are_sorted_and_said(make_frame: Any) -> None:
    prepared = prepare(make_frame({"ds": days(2, 0, 1), "y": [3.0, 1.0, 2.0]}))

    assert prepared.panel.values.tolist() == [1, 2, 3]
    (finding,) = prepared.report.of_kind("reordered")
    assert finding.count == 1


def test_a_frame_without_ids_is_one_series(make_frame: Any) -> None:
    assert prepare(make_frame({"ds": days(0, 1), "y": [1.0, 2.0]})).panel.ids == ("series",)


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
