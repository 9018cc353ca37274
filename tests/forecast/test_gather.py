"""Runs cut at once are what a loop over rows and steps would cut."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from forecast.gather import Runs, gather_on_host, gather_runs, gather_tensor

DTYPES = [np.float64, np.bool_, np.int64, np.float32]
ROWS = st.lists(st.tuples(st.integers(-30, 60), st.integers(0, 40), st.integers(0, 40)), max_size=6)


def runs_of(rows: list[tuple[int, int, int]], *, length: int, num_steps: int = 40) -> Runs:
    """Runs with these starts; the two bounds are put in order and inside the array."""
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    bounds = np.sort(np.minimum(table[:, 1:], num_steps), axis=1)
    return Runs(table[:, 0], bounds[:, 0], bounds[:, 1], length)


def one_by_one(steps: np.ndarray, runs: Runs) -> np.ndarray:
    gathered = np.zeros((len(runs.starts), runs.length), dtype=steps.dtype)
    for row, (start, low, high) in enumerate(zip(runs.starts, runs.lows, runs.highs, strict=True)):
        for step in range(runs.length):
            if low <= start + step < high:
                gathered[row, step] = steps[start + step]
    return gathered


def array(num_steps: int, dtype: type) -> np.ndarray:
    """No step is 0, and no two neighbours are alike."""
    steps = np.arange(1, num_steps + 1)
    return (steps % 3 != 0) if dtype is np.bool_ else steps.astype(dtype)


@given(rows=ROWS, length=st.integers(0, 50), num_steps=st.integers(0, 40), dtype=st.sampled_from(DTYPES))
def test_runs_are_those_of_a_loop_on_the_host_and_as_tensors(rows, length, num_steps, dtype):
    steps, runs = array(num_steps, dtype), runs_of(rows, length=length, num_steps=num_steps)
    expected = one_by_one(steps, runs)
    np.testing.assert_array_equal(gather_runs(steps, runs), expected, strict=True)
    for gathered in (gather_on_host(steps, runs), gather_tensor(torch.from_numpy(steps), runs)):
        np.testing.assert_array_equal(gathered.numpy(), expected, strict=True)


@pytest.mark.parametrize("start", [-12, -10, -9, -1, 0, 1, 29, 30, 31, 39, 40, 50])
@pytest.mark.parametrize("bounds", [(0, 40), (5, 35), (10, 10), (0, 1), (39, 40)])
def test_a_run_may_lie_across_any_border(start, bounds):
    steps, runs = array(40, np.float64), runs_of([(start, *bounds)], length=10)
    np.testing.assert_array_equal(gather_runs(steps, runs), one_by_one(steps, runs))


@pytest.mark.parametrize("length", [40, 41, 100])
def test_an_array_may_be_as_short_as_a_run_or_shorter(length):
    steps, runs = array(40, np.float64), runs_of([(0, 0, 40), (-3, 0, 40), (7, 2, 39)], length=length)
    np.testing.assert_array_equal(gather_runs(steps, runs), one_by_one(steps, runs))


def test_whole_runs_and_cut_ones_stand_in_one_batch_in_the_order_asked_for():
    steps, runs = (
        array(40, np.int64),
        runs_of([(20, 0, 40), (-2, 0, 40), (3, 0, 40), (38, 0, 40), (3, 0, 40)], length=4),
    )
    assert gather_runs(steps, runs).tolist() == [
        [21, 22, 23, 24],
        [0, 0, 1, 2],
        [4, 5, 6, 7],
        [39, 40, 0, 0],
        [4, 5, 6, 7],
    ]


@pytest.mark.parametrize("rows", [[], [(3, 0, 40)], [(3, 0, 40), (-1, 0, 40)]])
def test_what_is_gathered_is_the_callers_own(rows):
    steps = array(40, np.float64)
    steps.flags.writeable = False
    gathered = gather_runs(steps, runs_of(rows, length=5))
    gathered[:] = -1
    assert gathered.flags.c_contiguous
    np.testing.assert_array_equal(steps, array(40, np.float64))


def test_a_mapped_file_gives_the_runs_of_the_array_in_it(tmp_path):
    steps, runs = array(40, np.float64), runs_of([(-4, 0, 40), (12, 3, 15), (36, 0, 40)], length=9)
    np.save(tmp_path / "steps.npy", steps)
    mapped = np.load(tmp_path / "steps.npy", mmap_mode="r")
    np.testing.assert_array_equal(gather_runs(mapped, runs), gather_runs(steps, runs))


def test_runs_without_their_first_steps_end_where_they_ended():
    steps, runs = array(40, np.float64), runs_of([(-4, 0, 40), (12, 3, 15), (36, 0, 40)], length=9)
    np.testing.assert_array_equal(gather_runs(steps, runs.without(6)), gather_runs(steps, runs)[:, 6:])
