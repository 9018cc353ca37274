"""Covariates are measured on the training part alone, over what is observed, and no value is too large or too flat."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from forecast.covariate_scales import CovariateScales, measure_covariates
from forecast.frames.contract import DataContract, prepare
from forecast.frames.covariate_columns import CovariateColumns


def measured(ends: list[int], **columns: list[Any]) -> CovariateScales:
    """Measure `wind` (past) and `area` (static) of two series of four steps on the steps before `ends`."""
    roles = {"past": ("wind",), "static": ("area",)} if "area" in columns else {"past": ("wind",)}
    frame = pl.DataFrame({"unique_id": ["a"] * 4 + ["b"] * 4, "ds": [1, 2, 3, 4] * 2, "y": [1.0] * 8, **columns})
    panel = prepare(frame, DataContract(covariates=CovariateColumns(**roles))).panel
    assert panel.covariates is not None
    return measure_covariates(panel.covariates, ends=np.array(ends))


def test_level_and_spread_are_those_of_the_training_steps_of_all_series() -> None:
    scales = measured([3, 2], wind=[1.0, 2.0, 3.0, 900.0, 4.0, 5.0, 900.0, 900.0])

    level, spread = scales.steps
    assert level.tolist() == pytest.approx([3.0])
    assert spread.tolist() == pytest.approx([np.std([1, 2, 3, 4, 5])])


@pytest.mark.parametrize("later", [0.0, -1e300, 7.0])
def test_nothing_after_the_training_part_is_read(later: float) -> None:
    before = measured([3, 2], wind=[1.0, 2.0, 3.0, 900.0, 4.0, 5.0, 900.0, 900.0])
    after = measured([3, 2], wind=[1.0, 2.0, 3.0, later, 4.0, 5.0, later, later])

    assert [part.tolist() for part in after.steps] == [part.tolist() for part in before.steps]


def test_unknown_cells_count_for_nothing() -> None:
    level, spread = measured([4, 4], wind=[None, 2.0, None, 4.0, None, None, 6.0, None]).steps

    assert level.tolist() == pytest.approx([4.0])
    assert spread.tolist() == pytest.approx([np.std([2, 4, 6])])


@pytest.mark.parametrize("wind", [[7.5] * 8, [0.0] * 8, [1e20] * 8, [0.1 + 0.2, 0.3] * 4])
def test_what_does_not_move_has_spread_one(wind: list[float]) -> None:
    level, spread = measured([4, 4], wind=wind).steps

    assert level.tolist() == pytest.approx([wind[0]])
    assert spread.tolist() == [1.0]


def test_what_is_never_known_has_level_zero_and_spread_one() -> None:
    assert [part.tolist() for part in measured([4, 4], wind=[None] * 8).steps] == [[0.0], [1.0]]
    assert [part.tolist() for part in measured([0, 0], wind=[3.0, 4.0] * 4).steps] == [[0.0], [1.0]]


def test_squares_of_large_numbers_do_not_overflow() -> None:
    level, spread = measured([4, 4], wind=[1e200, -1e200] * 4).steps

    assert level.tolist() == pytest.approx([0.0])
    assert spread.tolist() == pytest.approx([1e200])


def test_static_covariates_are_measured_over_series_that_train() -> None:
    area = [10.0] * 4 + [20.0] * 4

    assert [part.tolist() for part in measured([4, 4], wind=[1.0] * 8, area=area).static] == [[15.0], [5.0]]
    assert [part.tolist() for part in measured([4, 0], wind=[1.0] * 8, area=area).static] == [[10.0], [1.0]]
