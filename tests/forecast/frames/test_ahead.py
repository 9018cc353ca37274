"""History and what is known ahead in one frame: told apart by time, whatever the order of rows."""

import pandas as pd
import polars as pl
import pytest

from forecast.frames.ahead import split_ahead
from forecast.frames.contract import DataContract

CONTRACT = DataContract(time_format="%d/%m/%Y")
FRAME = pl.DataFrame(
    {
        "unique_id": ["a", "a", "a", "b", "b", "b"],
        "ds": ["30/01/2024", "31/01/2024", "01/02/2024", "30/01/2024", "31/01/2024", "01/02/2024"],
        "y": [1.0, None, None, 1.0, None, 3.0],
        "price": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
)
AHEAD = [("a", "01/02/2024", 3.0), ("a", "31/01/2024", 2.0)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_rows_after_the_newest_target_are_ahead_in_any_order(library: str, seed: int) -> None:
    frame = FRAME.sample(fraction=1, shuffle=True, seed=seed)
    history, future = split_ahead(frame if library == "polars" else frame.to_pandas(), CONTRACT)
    assert isinstance(future, pl.DataFrame if library == "polars" else pd.DataFrame)
    assert sorted(pl.DataFrame(future).select("unique_id", "ds", "price").rows()) == AHEAD
    assert len(history) == 4


def test_a_series_without_a_target_is_all_history() -> None:
    history, future = split_ahead(FRAME.with_columns(y=pl.lit(None, dtype=pl.Float64)), CONTRACT)
    assert (len(history), len(future)) == (6, 0)


def test_of_several_targets_one_that_is_known_is_enough() -> None:
    frame = FRAME.with_columns(z=pl.Series([1.0, 2.0, None, None, None, None]))
    contract = DataContract(time_format="%d/%m/%Y", columns={"target": ("y", "z")})
    _, future = split_ahead(frame, contract)
    assert future.select("unique_id", "ds").rows() == [("a", "01/02/2024")]
