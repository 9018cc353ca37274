"""Differences: what each step of the horizon is measured from, and that straight lines go on."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from forecast.baselines.seasonal_naive import repeat_season
from forecast.transform import Difference

NAN = float("nan")


def window(*values: float, lag: int, horizon: int):
    past = torch.tensor([values], dtype=torch.float64)
    observed = ~past.isnan()
    return Difference(lag=lag).build().open(torch.where(observed, past, 0.0), observed, horizon=horizon)


def test_past_holds_the_changes_over_the_lag():
    opened = window(1.0, 2.0, 4.0, 7.0, lag=2, horizon=1)
    assert opened.past.tolist() == [[0.0, 0.0, 3.0, 5.0]]
    assert opened.observed.tolist() == [[False, False, True, True]]


def test_a_change_from_or_to_a_missing_step_is_missing():
    opened = window(1.0, NAN, 4.0, 7.0, 8.0, lag=1, horizon=1)
    assert opened.observed.tolist() == [[False, False, False, True, True]]


def test_a_context_within_the_lag_shows_no_change():
    opened = window(1.0, 2.0, lag=3, horizon=4)
    assert not opened.observed.any()
    assert opened.base.tolist() == [[2.0, 1.0, 2.0, 2.0]]


@given(
    values=st.lists(st.one_of(st.just(NAN), st.floats(-1e6, 1e6)), min_size=1, max_size=20),
    lag=st.integers(1, 6),
    horizon=st.integers(1, 15),
)
def test_base_is_the_seasonal_naive_forecast(values, lag, horizon):
    steps = np.array([values])
    expected = repeat_season(np.nan_to_num(steps), ~np.isnan(steps), horizon, lag)
    np.testing.assert_array_equal(window(*values, lag=lag, horizon=horizon).base.numpy(), expected)


@pytest.mark.parametrize("lag", [1, 2, 5])
def test_a_straight_line_with_holes_goes_on_as_one(lag):
    line = 3.0 + 0.5 * np.arange(24)
    past = line[:16].copy()
    past[[4, 9, 14, 15]] = NAN
    opened = window(*past, lag=lag, horizon=8)
    change = opened.past[opened.observed].unique()
    assert change.tolist() == [0.5 * lag]
    forecast = opened.undo(change * opened.num_summed(8), moves=torch.tensor([[False]]))
    np.testing.assert_allclose(forecast.numpy()[0], line[16:], rtol=1e-14)


def test_steps_of_a_phase_never_observed_count_a_share_of_the_lag():
    opened = window(NAN, 2.0, NAN, lag=3, horizon=4)
    assert opened.base.tolist() == [[2.0, 2.0, 2.0, 2.0]]
    assert opened.num_summed(4).tolist() == [[2 / 3, 1.0, 4 / 3, 5 / 3]]


def test_an_error_of_one_step_is_the_error_of_that_step_alone():
    opened = window(1.0, 2.0, 4.0, 7.0, lag=1, horizon=5)
    changes = torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0]], dtype=torch.float64)
    wrong = changes.clone()
    wrong[0, 1] += 10
    moves = torch.tensor([[True]])
    assert (opened.undo(wrong, moves=moves) - opened.undo(changes, moves=moves)).tolist() == [[0, 10, 0, 0, 0]]


def test_no_change_is_taken_across_the_border_of_two_series(panel_of):
    panel = Difference(lag=2).build().transform_panel(panel_of(a=[1.0, 2.0, 4.0], b=[9.0], c=[5.0, 6.0, 7.0, NAN]))
    assert panel.values.tolist() == [0, 0, 3, 0, 0, 0, 2, 0]
    assert panel.observed.tolist() == [False, False, True, False, False, False, True, False]


def test_a_panel_shorter_than_the_lag_shows_no_change(panel_of):
    assert not Difference(lag=9).build().transform_panel(panel_of(a=[1.0, 2.0, 4.0])).observed.any()
