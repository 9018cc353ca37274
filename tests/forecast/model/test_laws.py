"""The laws that every model keeps, whatever its parts."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import pad

from forecast.batch import Batch
from forecast.errors import ContextTooLong, QuantilesUnavailable
from forecast.forecast import Forecast
from forecast.losses import PointHead
from forecast.model.decoding import Target
from tests.forecast.model.kinds import AFFINE, CONTEXT, HORIZON, KINDS, make_batch, make_model

LEVELS = (0.01, 0.1, 0.25, 0.5, 0.77, 0.9, 0.999)


def run(model, batch, *, horizon: int = HORIZON) -> Forecast:
    levels = () if isinstance(model.config.head, PointHead) else LEVELS
    return model.forecast(batch.past, batch.past_observed, horizon=horizon, quantile_levels=levels)


def assert_same(actual: np.ndarray, expected: np.ndarray, batch: Batch) -> None:
    """Equal to 1e-5 of the swing of each window's past: the network computes, and so rounds, in units of it.

    What a curved transform changed back far from the past was rounded in units of itself: hence the relative part.
    """
    swings = [past[seen].std() for past, seen in zip(batch.past.numpy(), batch.past_observed.numpy(), strict=True)]
    for row, swing in enumerate(swings):
        np.testing.assert_allclose(actual[row], expected[row], atol=1e-5 * swing, rtol=2e-6)


def test_forecast_has_the_shape_asked_for(model, batch):
    for horizon in (1, HORIZON - 1, HORIZON, 2 * HORIZON + 1):
        forecast = run(model, batch, horizon=horizon)
        assert forecast.mean.shape == (3, horizon)
        assert forecast.quantiles.shape[:2] == (3, horizon)
        assert np.isfinite(forecast.mean).all()
        assert np.isfinite(forecast.quantiles).all()


@pytest.mark.parametrize("context", [1, 2, 5, CONTEXT - 1])
def test_any_context_from_one_step_gives_a_forecast(model, context):
    batch = make_batch(context=context)
    assert np.isfinite(run(model, batch).mean).all()


def test_shorter_horizon_is_the_beginning_of_a_longer_one(model, batch):
    long = run(model, batch, horizon=HORIZON)
    for horizon in (1, 5, 8):
        assert_same(run(model, batch, horizon=horizon).mean, long.mean[:, :horizon], batch)


@given(
    kind=st.sampled_from(AFFINE),
    factor=st.floats(1e-3, 1e6),
    shift=st.floats(-1e4, 1e4),
)
def test_forecast_of_scaled_and_shifted_series_is_the_scaled_and_shifted_forecast(kind, factor, shift):
    model, batch = make_model(kind), make_batch()
    moved = replace(batch, past=torch.where(batch.past_observed, factor * batch.past + shift, 0.0))
    before, after = run(model, batch), run(model, moved)
    tolerance = 1e-4 * factor * 3
    np.testing.assert_allclose(after.mean, factor * before.mean + shift, atol=tolerance, rtol=1e-6)
    np.testing.assert_allclose(after.quantiles, factor * before.quantiles + shift, atol=tolerance, rtol=1e-6)


def test_batch_gives_what_its_windows_give_alone(model, batch):
    together = run(model, batch)
    for row in range(len(batch.past)):
        alone = batch.rows(slice(row, row + 1))
        assert_same(run(model, alone).mean, together.mean[row : row + 1], alone)
        assert_same(run(model, alone).quantiles, together.quantiles[row : row + 1], alone)


def test_quantiles_never_cross_at_any_levels(model, batch):
    forecast = run(model, batch)
    assert (np.diff(forecast.quantiles, axis=-1) >= 0).all()


def test_unobserved_values_change_nothing(model, batch):
    hidden = replace(batch, past=torch.where(batch.past_observed, batch.past, 1e6))
    assert_same(run(model, hidden).mean, run(model, batch).mean, batch)


def test_padding_on_the_left_changes_nothing(model, batch):
    padded = replace(batch, **{name: pad(getattr(batch, name), (8, 0)) for name in ("past", "past_observed")})
    if "learned" in type(model.encoder.position).__name__.lower():
        with pytest.raises(ContextTooLong):
            run(model, padded)
    else:
        assert_same(run(model, padded).mean, run(model, batch).mean, batch)


def test_newest_value_always_counts(model):
    for context in range(CONTEXT - 4, CONTEXT + 1):
        batch = make_batch(context=context)
        changed = replace(batch, past=batch.past.clone())
        changed.past[:, -1] += 2.0
        assert (np.abs(run(model, changed).mean - run(model, batch).mean).max(axis=1) > 1e-6).all()


def test_constant_past_gives_exactly_that_constant(model):
    batch = make_batch()
    for value in filter(model.transform.domain.holds, (0.0, 0.1, -7.0, 1e20, float(2**53))):
        constant = torch.full_like(batch.past, value)
        forecast = model.forecast(constant, torch.ones_like(batch.past_observed), horizon=2 * HORIZON)
        assert (forecast.mean == value).all()


def test_huge_values_stay_finite(model, batch):
    forecast = run(model, replace(batch, past=batch.past * 1e150))
    assert np.isfinite(forecast.mean).all()


def taught(model, batch) -> torch.Tensor:
    window = model._window(batch.past, batch.past_observed, horizon=HORIZON)
    return model.decoder.teach(
        model.know(window.given),
        Target(window.units.future(batch.future, batch.future_observed), batch.future_observed),
    )


def test_future_target_never_reaches_an_output_at_or_before_it(model, batch):
    patch = model.decoder.patch_length
    before = taught(model, batch)
    for step in range(HORIZON):
        changed = replace(batch, future=batch.future.clone())
        changed.future[:, step:] += 40.0
        first_affected = (step // patch + 1) * patch
        assert torch.equal(taught(model, changed)[:, :first_affected], before[:, :first_affected])


def test_taught_decoder_sees_a_context_of_fewer_tokens_than_the_horizon_whole(model):
    batch = make_batch(context=2)
    padded = replace(batch, **{name: pad(getattr(batch, name), (4, 0)) for name in ("past", "past_observed")})
    torch.testing.assert_close(taught(model, padded), taught(model, batch), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith(("direct", "student"))])
def test_taught_decoder_does_look_at_the_target_before(kind):
    model, batch = make_model(kind), make_batch()
    patch = model.decoder.patch_length
    changed = replace(batch, future=batch.future.clone())
    changed.future[:, 0] += 40.0
    after, before = taught(model, changed), taught(model, batch)
    assert (after[1:, patch : 2 * patch] - before[1:, patch : 2 * patch]).abs().max() > 1e-4


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith(("direct", "student"))])
def test_cached_roll_out_equals_decoding_without_a_cache(kind):
    model, batch = make_model(kind), make_batch()
    window = model._window(batch.past, batch.past_observed, horizon=HORIZON)
    cached = model.decoder.roll_out(model.know(window.given), horizon=HORIZON)
    patch = model.decoder.patch_length
    fed_back = torch.zeros(len(batch.past), HORIZON)
    everything = torch.ones_like(fed_back, dtype=torch.bool)
    for first in range(0, HORIZON, patch):  # teach anew with all forecast so far: the whole prefix, no cache
        parameters = model.decoder.teach(model.know(window.given), Target(fed_back, everything))
        fed_back[:, first : first + patch] = parameters[:, first : first + patch, 0]
    torch.testing.assert_close(cached[..., 0], fed_back, atol=1e-5, rtol=1e-5)


def test_loss_ignores_unobserved_targets_and_windows_that_do_not_move(model, batch):
    base = model.free_running_loss(batch)
    changed = replace(batch, future=torch.where(batch.future_observed, batch.future, 1e5))
    torch.testing.assert_close(model.free_running_loss(changed), base)
    flat = replace(batch, past=torch.full_like(batch.past, 4.0), past_observed=torch.ones_like(batch.past_observed))
    assert model.teacher_forced_loss(flat).item() == 0.0


def test_point_model_refuses_quantiles():
    model, batch = make_model("mse"), make_batch()
    with pytest.raises(QuantilesUnavailable, match=r"0\.9.*head 'quantile'"):
        model.forecast(batch.past, batch.past_observed, horizon=3, quantile_levels=(0.9,))


def test_without_positions_the_order_of_the_past_does_not_matter_to_the_encoder():
    model, batch = make_model("no positions, rms, swiglu"), make_batch(context=32)
    order = torch.tensor([3, 0, 7, 5, 1, 6, 2, 4])
    patches = batch.past.float().unflatten(1, (8, 4))
    everything = torch.ones(3, 32, dtype=torch.bool)
    plain = model.encoder(patches.flatten(1), everything).tokens
    shuffled = model.encoder(patches[:, order].flatten(1), everything).tokens
    torch.testing.assert_close(shuffled, plain[:, order], atol=1e-5, rtol=1e-5)
