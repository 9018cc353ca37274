"""Columns are found by name: the exact one, else an alias that is alone."""

import pytest

from forecast.errors import ColumnMissing
from forecast.frames.columns import Columns


@pytest.mark.parametrize(
    ("frame_columns", "expected"),
    [
        (["unique_id", "ds", "y"], ("unique_id", "ds", "y")),
        (["y", "ds", "unique_id"], ("unique_id", "ds", "y")),
        (["item_id", "timestamp", "target"], ("item_id", "timestamp", "target")),
        (["series_id", "date", "value", "price"], ("series_id", "date", "value")),
        (["ID", "DateTime", "Target"], ("ID", "DateTime", "Target")),
        (["date_time", "y", "holiday"], ("unique_id", "date_time", "y")),
        (["ds", "timestamp", "y", "value"], ("unique_id", "ds", "y")),
    ],
)
def test_exact_names_win_and_aliases_are_found(frame_columns: list[str], expected: tuple[str, str, str]) -> None:
    found = Columns().resolve(frame_columns)

    assert (found.id, found.time, found.target) == expected


def test_names_of_the_callers_own_are_taken_as_given() -> None:
    columns = Columns(id="store", time="Day", target="units sold")

    assert columns.resolve(["units sold", "Day", "store"]) == columns


@pytest.mark.parametrize(
    ("columns", "frame_columns", "message"),
    [
        (Columns(), ["unique_id", "y"], r"no time column 'ds'; it has 'unique_id', 'y'; .*columns\.time"),
        (Columns(), ["unique_id", "ds", "sales"], r"no target column 'y'.*columns\.target"),
        (Columns(), ["timestamp", "date", "y"], r"more than one column can be the time: 'timestamp', 'date'"),
        (Columns(), ["ds", "y", "id", "item_id"], r"more than one column can be the id: 'id', 'item_id'"),
        (Columns(), ["ds", "y", "y"], r"more than one column can be the target: 'y', 'y'"),
        (Columns(id="store"), ["unique_id", "ds", "y"], r"no id column 'store'"),
        (Columns(target="sales"), ["unique_id", "ds", "y"], r"no target column 'sales'"),
        (Columns(), [], r"it has no columns"),
    ],
)
def test_an_absent_or_ambiguous_column_is_named(columns: Columns, frame_columns: list[str], message: str) -> None:
    with pytest.raises(ColumnMissing, match=message):
        columns.resolve(frame_columns)
