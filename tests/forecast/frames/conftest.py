"""Frames for the tests of the data contract, in every library that may bring them."""

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import polars as pl
import pytest

MakeFrame = Callable[[Mapping[str, Any]], Any]

MAKERS: dict[str, MakeFrame] = {
    "pandas": lambda columns: pd.DataFrame({name: _for_pandas(values) for name, values in columns.items()}),
    "polars": lambda columns: pl.DataFrame(dict(columns)),
    "lazy": lambda columns: pl.LazyFrame(dict(columns)),
    "pyarrow": lambda columns: pl.DataFrame(dict(columns)).to_arrow(),
}


def _for_pandas(values: Any) -> Any:
    return values.to_pandas() if isinstance(values, pl.Series) else values


@pytest.fixture(params=list(MAKERS))
def make_frame(request: pytest.FixtureRequest) -> MakeFrame:
    """Builds a frame of columns; a test that asks for it runs once a library."""
    return MAKERS[request.param]


@pytest.fixture(params=["pandas", "polars"])
def like(request: pytest.FixtureRequest) -> str:
    """The library that an answer is asked in."""
    return request.param
