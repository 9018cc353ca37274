"""Series come in batches of about one length, each once, and their forecasts are those of whole contexts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.batch import cut_newest
from forecast.length_batches import batches_by_length
from tests.tiny_model import HORIZON, tiny_model

BUDGET = 2_000


@given(
    lengths=st.lists(st.integers(0, 3_000), max_size=40),
    context_length=st.integers(1, 2_100),
    horizon=st.integers(1, 300),
    block=st.integers(1, 100),
    num_channels=st.integers(1, 3),
)
def test_every_series_comes_once_in_a_batch_that_fits(lengths, context_length, horizon, block, num_channels):
    every = np.repeat(np.array(lengths, dtype=np.int64), num_channels)
    asked = {"context_length": context_length, "horizon": horizon, "block": block, "num_channels": num_channels}
    batches = list(batches_by_length(every, **asked, steps_a_batch=BUDGET))
    assert sorted(number for batch in batches for number in batch.numbers.tolist()) == list(range(len(every)))
    for batch in batches:
        entities = batch.numbers.reshape(-1, num_channels)
        assert (entities == entities[:, :1] + np.arange(num_channels)).all()
        assert (entities[:, 0] % num_channels == 0).all()
        assert len(entities) == 1 or len(batch.numbers) * (batch.context_length + horizon) <= BUDGET
        assert batch.context_length <= context_length
        rolled = (horizon - 1) // block * block
        assert batch.context_length >= min(context_length, every[batch.numbers].max() + rolled)


def test_a_context_is_cut_by_the_length_of_its_own_series_alone():
    asked = {"context_length": 500, "horizon": 10, "block": 10, "steps_a_batch": BUDGET}
    lengths = np.array([1, 64, 65, 200, 256, 257, 499, 500, 9_000])
    cuts = {number: batch.context_length for batch in batches_by_length(lengths, **asked) for number in batch.numbers}
    assert [cuts[number] for number in range(len(lengths))] == [64, 64, 128, 256, 256, 500, 500, 500, 500]
    for number in range(len(lengths)):
        (alone,) = batches_by_length(lengths[[number]], **asked)
        assert alone.context_length == cuts[number]


MODELS = {
    "sinusoidal positions, a draft": {},
    "learned positions": {"position": {"kind": "learned"}},
    "direct": {"decoder": {"kind": "direct"}, "patch_length": 5},
    "no draft, newest value": {"draft": None, "scaling": {"kind": "newest_std"}},
}


@pytest.mark.parametrize("changes", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("horizon", [HORIZON, 2 * HORIZON + 1], ids=["one block", "three blocks"])
def test_a_forecast_from_a_cut_context_is_that_from_a_whole_one(changes, horizon, panel_of):
    waves = {f"s{length}": 5 + np.sin(np.arange(length) / 3) for length in (2, 3, 30, 63, 64, 65, 120, 300)}
    panel, model = panel_of(**waves), tiny_model(**{"context_length": 150, **changes}).eval()

    def forecast(numbers: np.ndarray, context_length: int) -> np.ndarray:
        windows = cut_newest(panel, series=numbers, context_length=context_length)
        return model.forecast(windows.past, windows.past_observed, horizon=horizon).quantiles

    whole = forecast(np.arange(len(panel)), 150)
    batches = list(
        batches_by_length(panel.lengths, context_length=150, horizon=horizon, block=HORIZON, steps_a_batch=600)
    )
    assert len({batch.context_length for batch in batches}) > 1
    for batch in batches:
        found = forecast(batch.numbers, batch.context_length)
        np.testing.assert_allclose(found, whole[batch.numbers], rtol=1e-5, atol=1e-5)
