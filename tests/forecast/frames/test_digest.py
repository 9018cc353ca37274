"""A digest is of the content: equal for equal data in any frame, another for any change."""

from collections.abc import Callable

import polars as pl
import pytest

from forecast.frames.contract import DataContract, prepare
from forecast.frames.digest import panel_digest
from tests.tiny_model import tiny_history


def digest(frame: object, **contract: str) -> str:
    return panel_digest(prepare(frame, DataContract(**contract)).panel)


@pytest.mark.parametrize(
    "change",
    [
        pl.DataFrame.to_pandas,
        pl.DataFrame.to_arrow,
        lambda history: history.select("y", "ds", "unique_id"),
        lambda history: history.with_columns(pl.col("ds").cast(pl.Datetime("ms"))),
        lambda history: history.rename({"unique_id": "item_id", "ds": "timestamp"}),
    ],
)
def test_the_same_data_in_another_frame_has_the_same_digest(change: Callable[[pl.DataFrame], object]) -> None:
    assert digest(change(tiny_history())) == digest(tiny_history())


@pytest.mark.parametrize(
    "change",
    [
        lambda history: history.with_columns(pl.col("ds") + pl.duration(hours=1)),
        lambda history: history.with_columns(pl.col("ds").dt.replace_time_zone("UTC")),
        lambda history: history.with_columns(y=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise("y")),
        lambda history: history.with_columns(y=pl.when(pl.int_range(pl.len()) == 119).then(0.5).otherwise("y")),
        lambda history: history.with_columns(pl.col("unique_id") + "x"),
        lambda history: history.head(119),
        lambda history: history.sort("unique_id", descending=True),
    ],
)
def test_any_change_has_another_digest(change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    assert digest(change(tiny_history())) != digest(tiny_history())


def test_text_and_numbers_are_not_the_same_ids() -> None:
    numbered = tiny_history().with_columns(unique_id=pl.col("unique_id").rank("dense").cast(pl.Int64))
    assert digest(numbered) != digest(numbered.with_columns(pl.col("unique_id").cast(pl.String)))


def test_a_digest_fits_the_tracking_store() -> None:
    assert len(digest(tiny_history())) <= 36
