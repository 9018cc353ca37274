"""Every window once, at the right place, by arithmetic; and no window sees what its part may not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.batch import cut_windows
from forecast.errors import SeriesTooShort
from pipelines import windows
from pipelines.sources import PublicSource
from pipelines.split import FractionSplit, Parts, StepsSplit
from pipelines.windows import WindowIndex, training_windows, validation_windows, window_report

LENGTHS = st.lists(st.integers(2, 60), min_size=1, max_size=6)
CONTEXTS, HORIZONS, STRIDES = st.integers(1, 20), st.integers(1, 12), st.integers(1, 5)
ETT = StepsSplit(train=8640, validation=2880, test=2880)


def all_training(panel) -> Parts:
    return Parts(train_end=panel.lengths, validation_end=panel.lengths, test_end=panel.lengths)


def everything(index: WindowIndex) -> list[tuple[int, int]]:
    series, origins = index.locate(np.arange(len(index)))
    return list(zip(series.tolist(), origins.tolist(), strict=True))


def cut_all(panel, index, **asked):
    series, origins = index.locate(np.arange(len(index)))
    return cut_windows(panel, series=series, origins=origins, ends=index.ends, **asked)


# ---- Arithmetic equals slicing


def naive_training(ends, *, context_length, horizon, stride) -> list[tuple[int, int]]:
    """The rule of `training_windows`, series by series and origin by origin."""
    found = []
    for number, end in enumerate(ends):
        whole = range(context_length, end - horizon + 1)
        fitting = range(1, end - horizon + 1)
        last_resort = [1] if end >= 2 else []
        origins = list(whole) or list(fitting) or last_resort
        found += [(number, origin) for origin in origins[::stride]]
    return found


@given(lengths=LENGTHS, context_length=CONTEXTS, horizon=HORIZONS, stride=STRIDES)
def test_training_windows_are_those_of_plain_loops(make_panel, lengths, context_length, horizon, stride):
    panel = make_panel(*[np.ones(length) for length in lengths])
    asked = {"context_length": context_length, "horizon": horizon, "stride": stride}
    index = training_windows(panel, all_training(panel), **asked)
    assert everything(index) == naive_training(lengths, **asked)
    assert len(index) == index.counts.sum()


@given(lengths=LENGTHS, context_length=CONTEXTS, horizon=HORIZONS, stride=STRIDES)
def test_held_out_windows_are_those_of_plain_loops(make_panel, lengths, context_length, horizon, stride):
    panel = make_panel(*[np.ones(length) for length in lengths])
    parts = FractionSplit(train=0.5, validation=0.2).cut(panel)
    for index, starts, ends in (
        (validation_windows(parts, horizon=horizon, stride=stride), parts.train_end, parts.validation_end),
        (windows.test_windows(parts, horizon=horizon, stride=stride), parts.validation_end, parts.test_end),
    ):
        bounds = zip(starts.tolist(), ends.tolist(), strict=True)
        expected = [(n, o) for n, (start, end) in enumerate(bounds) for o in range(start, end - horizon + 1, stride)]
        assert everything(index) == expected


@given(lengths=LENGTHS, context_length=CONTEXTS, horizon=HORIZONS, seed=st.integers(0, 2**32 - 1))
def test_a_cut_window_equals_plain_slices_of_its_series(make_panel, lengths, context_length, horizon, seed):
    draw = np.random.default_rng(seed)
    series = [np.where(draw.random(length) < 0.2, np.nan, draw.normal(size=length)) for length in lengths]
    panel = make_panel(*series)
    parts = FractionSplit(train=0.8, validation=0).cut(panel)
    index = training_windows(panel, parts, context_length=context_length, horizon=horizon)
    batch = cut_all(panel, index, context_length=context_length, horizon=horizon)
    for row, (number, origin) in enumerate(everything(index)):
        values = series[number][: parts.train_end[number]]
        past = np.concatenate([np.full(context_length, np.nan), values[:origin]])[-context_length:]
        future = np.concatenate([values[origin : origin + horizon], np.full(horizon, np.nan)])[:horizon]
        np.testing.assert_array_equal(np.where(batch.past_observed[row], batch.past[row], np.nan), past)
        np.testing.assert_array_equal(np.where(batch.future_observed[row], batch.future[row], np.nan), future)
        assert not batch.past[row][~batch.past_observed[row]].any()
        assert not batch.future[row][~batch.future_observed[row]].any()


@given(lengths=LENGTHS, stride=STRIDES, batch_size=st.integers(1, 17))
def test_batches_give_each_window_once_in_order(make_panel, lengths, stride, batch_size):
    panel = make_panel(*[np.ones(length) for length in lengths])
    index = training_windows(panel, all_training(panel), context_length=4, horizon=3, stride=stride)
    batches = list(index.batches(batch_size))
    assert all(len(batch) == batch_size for batch in batches[:-1])
    np.testing.assert_array_equal(np.concatenate(batches), np.arange(len(index)))


def test_an_index_of_billions_of_windows_takes_no_memory_for_them():
    length = np.full(3, 10**12)
    index = WindowIndex(first=np.full(3, 512), last=length - 96, ends=length)
    series, origins = index.locate(np.array([0, len(index) - 1]))
    assert len(index) == 3 * (10**12 - 96 - 512 + 1)
    assert (series.tolist(), origins.tolist()) == ([0, 2], [512, 10**12 - 96])


def test_a_window_that_is_not_there_cannot_be_asked_for(make_panel):
    index = training_windows(make_panel(np.ones(9)), all_training(make_panel(np.ones(9))), context_length=2, horizon=2)
    with pytest.raises(AssertionError, match="out of range"):
        index.locate(np.array([len(index)]))


# ---- The protocol of the public benchmarks


@pytest.mark.parametrize(("horizon", "expected"), [(96, 2785), (192, 2689), (336, 2545), (720, 2161)])
@pytest.mark.parametrize("context_length", [96, 512])
def test_etth1_has_the_windows_of_the_protocol(make_panel, context_length, horizon, expected):
    panel = make_panel(np.ones(17420), np.ones(17420))
    parts = ETT.cut(panel, horizon=horizon)
    training = training_windows(panel, parts, context_length=context_length, horizon=horizon)
    np.testing.assert_array_equal(training.counts, 8640 - context_length - horizon + 1)
    np.testing.assert_array_equal(validation_windows(parts, horizon=horizon).counts, 2880 - horizon + 1)
    test = windows.test_windows(parts, horizon=horizon)
    np.testing.assert_array_equal(test.counts, expected)
    assert (test.first[0], test.last[0] + horizon) == (11520, 14400)


def test_etth1_windows_hold_the_rows_of_the_file(make_panel, data_dir):
    frame = PublicSource(name="ETTh1").read()
    series = [group["y"].to_numpy() for group in frame.partition_by("unique_id", maintain_order=True)]
    panel = make_panel(*series)
    index = windows.test_windows(ETT.cut(panel), horizon=96)
    batch = cut_all(
        panel.select([6]), WindowIndex(index.first[6:], index.last[6:], index.ends[6:]), context_length=336, horizon=96
    )
    assert len(batch.past) == 2785
    np.testing.assert_array_equal(batch.past[0], series[6][11520 - 336 : 11520])
    np.testing.assert_array_equal(batch.future[-1], series[6][14400 - 96 : 14400])
    assert batch.past_observed.all()
    assert batch.future_observed.all()


# ---- Short series


@pytest.mark.parametrize(
    ("length", "origins"),
    [(1, []), (2, [1]), (4, [1]), (5, [1, 2]), (8, [1, 2, 3, 4, 5]), (9, [6]), (11, [6, 7, 8])],
)
def test_a_short_series_gives_what_fits(make_panel, length, origins):
    panel = make_panel(np.ones(length), np.ones(9))
    index = training_windows(panel, all_training(panel), context_length=6, horizon=3)
    assert [origin for number, origin in everything(index) if number == 0] == origins


def test_a_short_training_part_shows_nothing_of_what_is_held_out(make_panel):
    panel = make_panel(np.arange(1.0, 41.0))
    parts = StepsSplit(train=3, validation=10, test=20).cut(panel)
    index = training_windows(panel, parts, context_length=4, horizon=5)
    batch = cut_all(panel, index, context_length=4, horizon=5)
    np.testing.assert_array_equal(batch.past, [[0, 0, 0, 1]])
    np.testing.assert_array_equal(batch.future, [[2, 3, 0, 0, 0]])
    np.testing.assert_array_equal(batch.future_observed, [[True, True, False, False, False]])


def test_the_report_names_the_padded_and_the_left_out(make_panel):
    panel = make_panel(np.ones(30), np.ones(7), np.ones(1))
    index = training_windows(panel, all_training(panel), context_length=6, horizon=3)
    report = window_report(panel, index, context_length=6)
    assert (report.whole, report.padded, report.left_out) == (("s0",), ("s1",), ("s2",))
    assert str(report) == "1 series whole, 1 padded ('s1'), 1 left out ('s2')"


def test_a_long_report_is_printed_short(make_panel):
    panel = make_panel(np.ones(30), *[np.ones(1)] * 8)
    report = window_report(
        panel, training_windows(panel, all_training(panel), context_length=6, horizon=3), context_length=6
    )
    assert str(report) == "1 series whole, 0 padded, 8 left out ('s1', 's2', 's3', 's4', 's5', ...)"


def test_nothing_to_train_on_is_an_error_that_names_the_length_needed(make_panel):
    panel = make_panel(np.ones(1), np.ones(1))
    with pytest.raises(SeriesTooShort, match=r"at least 2 steps.*longest training part of 2 series has 1"):
        training_windows(panel, all_training(panel), context_length=6, horizon=3)


# ---- No look ahead


@given(lengths=LENGTHS, seed=st.integers(0, 2**32 - 1), cutoff=st.integers(1, 50), horizon=HORIZONS)
def test_what_comes_after_a_cutoff_changes_no_past_of_a_window_at_or_before_it(
    make_panel, lengths, seed, cutoff, horizon
):
    draw = np.random.default_rng(seed)
    series = [draw.normal(size=length) for length in lengths]
    corrupted = [np.where(np.arange(len(values)) < cutoff, values, 1e9) for values in series]
    panel, other = make_panel(*series), make_panel(*corrupted)
    parts = FractionSplit().cut(panel)
    for index in (
        training_windows(panel, parts, context_length=8, horizon=horizon),
        validation_windows(parts, horizon=horizon),
        windows.test_windows(parts, horizon=horizon),
    ):
        before = index.locate(np.arange(len(index)))[1] <= cutoff
        asked = {"context_length": 8, "horizon": horizon}
        past, same = cut_all(panel, index, **asked).past[before], cut_all(other, index, **asked).past[before]
        np.testing.assert_array_equal(past, same)


@given(lengths=LENGTHS, seed=st.integers(0, 2**32 - 1), context_length=CONTEXTS, horizon=HORIZONS)
def test_training_windows_see_nothing_of_validation_and_test(make_panel, lengths, seed, context_length, horizon):
    draw = np.random.default_rng(seed)
    series = [draw.normal(size=length) for length in lengths]
    parts = FractionSplit(train=0.5, validation=0.2).cut(make_panel(*series))
    corrupted = [np.where(np.arange(len(v)) < end, v, 1e9) for v, end in zip(series, parts.train_end, strict=True)]
    panel, other = make_panel(*series), make_panel(*corrupted)
    if (parts.train_end < 2).all():
        return
    asked = {"context_length": context_length, "horizon": horizon}
    index = training_windows(panel, parts, **asked)
    seen, same = cut_all(panel, index, **asked), cut_all(other, index, **asked)
    for name, tensor in seen.tensors().items():
        np.testing.assert_array_equal(tensor, same.tensors()[name])
