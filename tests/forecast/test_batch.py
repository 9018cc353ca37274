"""What one window is: past before the origin, future from it, zeros outside what was observed."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from forecast.batch import Batch, cut_newest, cut_windows
from forecast.frames.panel import Panel

NAN = float("nan")
STEPS = st.lists(st.one_of(st.just(NAN), st.floats(-100, 100)), min_size=2, max_size=12)


@pytest.fixture
def panel(panel_of: Callable[..., Panel]) -> Panel:
    return panel_of(a=[1, 2, 3, 4, 5], b=[10, NAN, 30])


def cut(panel: Panel, series: Sequence[int], origins: Sequence[int], **asked) -> Batch:
    return cut_windows(panel, series=np.array(series), origins=np.array(origins), **asked)


def test_a_window_is_the_steps_around_its_origin(panel):
    batch = cut(panel, [0, 0], [2, 3], context_length=2, horizon=2)
    assert batch.past.tolist() == [[1, 2], [2, 3]]
    assert batch.future.tolist() == [[3, 4], [4, 5]]
    assert batch.past_observed.all()
    assert batch.future_observed.all()


def test_steps_outside_a_series_are_unobserved_and_never_its_neighbours(panel):
    batch = cut(panel, [0, 1], [4, 1], context_length=6, horizon=3)
    assert batch.past.tolist() == [[0, 0, 1, 2, 3, 4], [0, 0, 0, 0, 0, 10]]
    assert batch.past_observed.tolist() == [[False] * 2 + [True] * 4, [False] * 5 + [True]]
    assert batch.future.tolist() == [[5, 0, 0], [0, 30, 0]]
    assert batch.future_observed.tolist() == [[True, False, False], [False, True, False]]


def test_steps_from_the_end_given_on_are_unobserved(panel):
    batch = cut(panel, [0], [2], context_length=3, horizon=3, ends=np.array([3, 3]))
    assert batch.past.tolist() == [[0, 1, 2]]
    assert batch.future.tolist() == [[3, 0, 0]]
    assert batch.future_observed.tolist() == [[True, False, False]]


def test_windows_carry_the_unit_of_their_series(panel):
    asked = {"context_length": 1, "horizon": 1}
    assert cut(panel, [1, 0, 1], [1, 1, 2], **asked).unit.tolist() == [1, 1, 1]
    assert cut(panel, [1, 0, 1], [1, 1, 2], units=np.array([5.0, 7.0]), **asked).unit.tolist() == [7, 5, 7]


def test_no_windows_make_an_empty_batch(panel):
    nothing = np.array([], dtype=np.int64)
    batch = cut_windows(panel, series=nothing, origins=nothing, context_length=4, horizon=2)
    assert batch.past.shape == (0, 4)
    assert batch.future.shape == (0, 2)


@given(a=STEPS, b=STEPS, context_length=st.integers(1, 15))
def test_the_newest_window_ends_each_series_and_has_no_future(panel_of, a, b, context_length):
    batch = cut_newest(panel_of(a=a, b=b), series=np.arange(2), context_length=context_length)
    assert batch.future.shape == (2, 0)
    for row, series in enumerate((a, b)):
        padded = np.array([NAN] * context_length + series)[-context_length:]
        np.testing.assert_array_equal(batch.past[row], np.nan_to_num(padded))
        np.testing.assert_array_equal(batch.past_observed[row], np.isfinite(padded))


@given(a=STEPS, length=st.integers(2, 12), context_length=st.integers(1, 15))
def test_a_past_is_what_would_be_cut_from_a_series_that_ended_there(panel_of, a, length, context_length):
    length = min(length, len(a))
    window = cut(panel_of(a=a), [0], [length], context_length=context_length, horizon=3)
    served = cut_newest(panel_of(a=a[:length]), series=np.arange(1), context_length=context_length)
    assert torch.equal(window.past, served.past)
    assert torch.equal(window.past_observed, served.past_observed)


def test_a_batch_moves_to_a_device_as_a_whole(panel):
    moved = cut(panel, [0], [2], context_length=2, horizon=2).to("meta")
    assert {tensor.device.type for tensor in moved.tensors().values()} == {"meta"}


def test_values_keep_the_precision_of_float64(panel_of):
    batch = cut_newest(panel_of(a=[0, 1e9 + 1e-6]), series=np.arange(1), context_length=1)
    assert batch.past.item() == 1e9 + 1e-6
