"""What covariates are like: role, kind, what is missing, their range or their commonest levels."""

import polars as pl
import pytest

from forecast.config import build_config
from forecast.frames.contract import DataContract, prepare
from forecast.frames.panel import Panel
from pipelines.look.covariates import CovariateFacts, covariate_facts


@pytest.fixture
def panel() -> Panel:
    frame = pl.DataFrame(
        {
            "unique_id": ["a"] * 4 + ["b"] * 2,
            "ds": [0, 1, 2, 3, 0, 1],
            "y": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            "price": [1.0, None, 3.0, 8.0, 2.0, 6.0],
            "weather": ["sun", "sun", "rain", "sun", "snow", None],
            "size": [10.0] * 4 + [20.0] * 2,
        }
    )
    columns = {"future": ["price"], "past": ["weather"], "static": ["size"]}
    return prepare(frame, build_config(DataContract, {"covariates": columns})).panel


def test_every_covariate_is_measured_by_its_role_and_kind(panel: Panel) -> None:
    weather, price, size = covariate_facts(panel)
    assert weather.holds.startswith("3 levels: sun 60%")
    assert (weather.role, weather.kind) == ("past", "categorical")
    assert (price.name, price.role, price.kind, price.holds) == ("price", "future", "numeric", "1 to 8, mean 4")
    assert price.missing == pytest.approx(1 / 6)
    assert size == CovariateFacts("size", "static", "numeric", missing=0.0, holds="10 to 20, mean 15")


def test_series_that_were_not_chosen_do_not_count(panel: Panel) -> None:
    price = covariate_facts(panel.select([1]))[1]
    assert (price.missing, price.holds) == (0.0, "2 to 6, mean 4")


def test_a_panel_without_covariates_has_none(panel_of) -> None:
    assert covariate_facts(panel_of(a=[1.0, 2.0])) == ()
