"""Buckets hold every window once, cut no context short, pad less, and change no loss."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.padding import WEEKLY, padding_of, weekly_panel
from forecast.batch import cut_windows
from forecast.errors import ConfigError
from pipelines.buckets import Bucket, make_buckets, padding_share
from pipelines.windows import WindowIndex
from tests.tiny_model import CONTEXT_LENGTH, HORIZON, tiny_model

SERIES = st.lists(st.tuples(st.integers(0, 30), st.integers(-5, 40)), max_size=6)
BOUNDS = st.sets(st.integers(1, 19), max_size=4).map(lambda bounds: tuple(sorted(bounds)))


def index_of(series: list[tuple[int, int]], *, stride: int, num_channels: int) -> WindowIndex:
    """Windows with these first origins and so many steps to the last one, for each channel of an entity."""
    table = np.array(series, dtype=np.int64).reshape(-1, 2).repeat(num_channels, axis=0)
    return WindowIndex(
        first=table[:, 0],
        last=table[:, 0] + table[:, 1],
        ends=table.sum(axis=1) + 50,
        stride=stride,
        num_channels=num_channels,
    )


def windows_of(index: WindowIndex, numbers: np.ndarray) -> list[tuple[int, int]]:
    series, origins = index.locate(numbers)
    return list(zip(series.tolist(), origins.tolist(), strict=True))


def batches_of(bucket: Bucket) -> list[np.ndarray]:
    return [bucket.windows(bucket.origins(number)) for number in range(len(bucket))]


@given(series=SERIES, bounds=BOUNDS, stride=st.integers(1, 5), num_channels=st.integers(1, 3))
def test_every_window_lies_in_the_shortest_bucket_that_holds_its_past(series, bounds, stride, num_channels):
    index = index_of(series, stride=stride, num_channels=num_channels)
    buckets = make_buckets(index, bounds=bounds, context_length=20, horizon=3, batch_size=4)
    found = [
        (*window, bucket.context_length)
        for bucket in buckets
        for batch in batches_of(bucket)
        for window in windows_of(bucket.index, batch)
    ]
    lengths = (*bounds, 20)
    expected = [
        (number, origin, next((length for length in lengths if origin <= length), 20))
        for number, origin in windows_of(index, np.arange(len(index)))
    ]
    assert sorted(found) == sorted(expected)


@given(series=SERIES, bounds=BOUNDS, stride=st.integers(1, 5), num_channels=st.integers(1, 3))
def test_a_batch_keeps_to_the_budget_of_steps_and_holds_whole_entities(series, bounds, stride, num_channels):
    index = index_of(series, stride=stride, num_channels=num_channels)
    for bucket in make_buckets(index, bounds=bounds, context_length=20, horizon=3, batch_size=4):
        most = 4 * 23 // (bucket.context_length + 3) + num_channels - 1
        for batch in batches_of(bucket):
            assert len(batch) <= most
            origins = np.array(windows_of(bucket.index, batch)).reshape(-1, num_channels, 2)
            assert (origins[:, :, 1] == origins[:, :1, 1]).all()
            assert (origins[:, :, 0] == origins[:, :1, 0] + np.arange(num_channels)).all()


def test_short_windows_come_in_larger_batches():
    index = index_of([(1, 400)], stride=1, num_channels=1)
    sizes = {
        bucket.context_length: bucket.size
        for bucket in make_buckets(index, bounds=(10, 40), context_length=200, horizon=10, batch_size=8)
    }
    assert sizes == {10: 84, 40: 33, 200: 8}


def test_without_bounds_there_is_one_bucket_of_the_batch_size():
    index = index_of([(1, 30), (2, 11)], stride=2, num_channels=1)
    (bucket,) = make_buckets(index, bounds=(), context_length=20, horizon=3, batch_size=4)
    assert (bucket.context_length, bucket.size) == (20, 4)
    assert windows_of(bucket.index, np.arange(len(index))) == windows_of(index, np.arange(len(index)))


@pytest.mark.parametrize("bounds", [(20,), (30,), (4, 4), (8, 4), (0, 4)])
def test_bounds_that_do_not_rise_below_the_context_are_refused(bounds):
    with pytest.raises(ConfigError, match="must rise and end below context_length 20"):
        make_buckets(
            index_of([(1, 3)], stride=1, num_channels=1), bounds=bounds, context_length=20, horizon=3, batch_size=4
        )


@given(
    series=SERIES.filter(lambda series: any(steps >= 0 for _, steps in series)), bounds=BOUNDS, stride=st.integers(1, 5)
)
def test_the_padding_share_is_that_of_the_steps_in_the_batches(series, bounds, stride):
    index = index_of(series, stride=stride, num_channels=1)
    buckets = make_buckets(index, bounds=bounds, context_length=20, horizon=3, batch_size=4)
    padded = steps = 0
    for bucket in buckets:
        for _, origin in windows_of(bucket.index, np.arange(len(bucket.index))):
            padded += max(0, bucket.context_length - origin)
            steps += bucket.context_length + 3
    assert padding_share(buckets, horizon=3) == pytest.approx(padded / steps)


MODELS = {
    "sinusoidal positions, a draft": {},
    "learned positions": {"position": {"kind": "learned"}},
    "direct": {"decoder": {"kind": "direct"}, "patch_length": 5},
    "no draft, newest value": {"draft": None, "scaling": {"kind": "newest_std"}},
}


@pytest.mark.parametrize("changes", MODELS.values(), ids=MODELS)
def test_the_loss_of_a_window_cut_at_its_bucket_is_that_of_the_whole_one(changes, panel_of):
    panel, model = panel_of(a=5 + np.sin(np.arange(60) / 3), b=np.arange(20.0) ** 2), tiny_model(**changes).eval()
    index = WindowIndex(first=np.array([1, 1]), last=np.array([54, 14]), ends=panel.lengths)
    buckets = make_buckets(index, bounds=(5, 12), context_length=CONTEXT_LENGTH, horizon=HORIZON, batch_size=4)
    assert [bucket.context_length for bucket in buckets] == [5, 12, CONTEXT_LENGTH]
    for bucket in buckets:
        series, origins = bucket.index.locate(np.arange(len(bucket.index)))
        asked = {"series": series, "origins": origins, "horizon": HORIZON, "units": np.array([1.0, 100.0])}
        cut, whole = (
            cut_windows(panel, **asked, context_length=length) for length in (bucket.context_length, CONTEXT_LENGTH)
        )
        with torch.inference_mode():
            for loss in (model.teacher_forced_loss, model.free_running_loss):
                assert float(loss(cut)) == pytest.approx(float(loss(whole)), rel=1e-5)


def test_buckets_pad_the_weekly_series_of_m4_less(data_dir):
    (file,) = data_dir.rglob(WEEKLY)
    panel = weekly_panel(file)
    assert (len(panel), panel.lengths.min(), panel.lengths.max()) == (359, 80, 2_597)
    before, after = (padding_of(panel, context_length=1_024, bounds=bounds) for bounds in ((), (64, 128, 256, 512)))
    assert after < before / 3
