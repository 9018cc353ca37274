"""Values of every size and sign: constants, counts, huge numbers, and weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from forecast.baselines.last_value import repeat_last
from forecast.baselines.seasonal_naive import repeat_season
from forecast.config import build_config
from forecast.errors import ConfigError, DataError
from forecast.forecast import Forecast
from forecast.losses import PointHead
from forecast.model.transformer import ForecastModel, ModelConfig
from forecast.model.units import MIDDLES
from tests.forecast.model.kinds import CONTEXT, HORIZON, KINDS, make_batch, make_model

LEVELS = (0.01, 0.1, 0.5, 0.9, 0.999)
DIRECT = {"kind": "direct", "patch_length": 4}
HEADS = ("quantile", "student_t", "mse", "mae", "huber")
TRANSFORMS = {
    "identity": {"kind": "identity"},
    "log1p": {"kind": "log1p"},
    "logarithm": {"kind": "box_cox", "power": 0},
    "square root": {"kind": "box_cox", "power": 0.5},
    "arcsinh": {"kind": "arcsinh", "scale": 3.0},
    "difference": {"kind": "difference", "lag": 4},
}
CURVED = ("log1p", "logarithm", "square root", "arcsinh")


def run(model: ForecastModel, past: torch.Tensor, *, horizon: int = HORIZON) -> Forecast:
    levels = () if isinstance(model.config.head, PointHead) else LEVELS
    return model.forecast(past, torch.ones_like(past, dtype=torch.bool), horizon=horizon, quantile_levels=levels)


def model_of(transform: str, **changes: object) -> ForecastModel:
    return make_model("autoregressive", transform=TRANSFORMS[transform], **changes)


# ---- Constants and sizes


@pytest.mark.parametrize(
    "decoder", [{"kind": "autoregressive", "patch_length": 4}, DIRECT], ids=lambda plain: plain["kind"]
)
@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_constant_in_gives_constant_out_to_the_bit(transform, head, decoder):
    model = model_of(transform, head={"kind": head}, decoder=decoder)
    for value in (0.1, 7.0, 1e20, float(2**53), 1e-8):
        forecast = run(model, torch.full((2, CONTEXT), value, dtype=torch.float64), horizon=HORIZON + 3)
        assert (forecast.mean == value).all()
        assert (forecast.quantiles == value).all()


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("magnitude", [1e-8, 1.0, 1e12, 1e20, 1e150])
def test_values_of_any_magnitude_give_finite_forecasts_in_order(transform, magnitude):
    forecast = run(model_of(transform), magnitude * make_batch(5).past.abs().clamp(min=1), horizon=2 * HORIZON)
    assert np.isfinite(forecast.mean).all()
    assert np.isfinite(forecast.quantiles).all()
    assert (np.diff(forecast.quantiles, axis=-1) >= 0).all()


@given(
    values=st.lists(st.sampled_from([1e20, -1e20, 2.0**53 - 1, 2.0**53 + 2, 0.1, 2.0**24 + 1]), min_size=4, max_size=9)
)
def test_naive_baselines_copy_what_float32_would_lose(values):
    past = np.array([values])
    seen = np.ones_like(past, dtype=bool)
    assert (repeat_last(past, seen, 5) == values[-1]).all()
    assert repeat_season(past, seen, 4, 4)[0].tolist() == values[-4:]


# ---- Counts


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("transform", ["identity", "arcsinh", "difference", "log1p"])
def test_forecasts_of_counts_are_never_negative_where_that_is_asked_for(transform, head):
    counts = torch.poisson(torch.full((4, CONTEXT), 0.7, dtype=torch.float64))
    free = run(model_of(transform, head={"kind": head}), counts, horizon=HORIZON + 5)
    asked = run(model_of(transform, head={"kind": head}, non_negative=True), counts, horizon=HORIZON + 5)
    assert free.mean.min() < 0
    assert asked.mean.min() >= 0
    assert asked.quantiles.min(initial=0.0) >= 0
    assert asked.mean.max() > 0
    block = slice(None, HORIZON)  # later blocks are forecast from the medians before them, which were cut
    np.testing.assert_array_equal(asked.quantiles[:, block], np.maximum(free.quantiles[:, block], 0))


def test_nothing_is_cut_without_being_asked_for():
    assert not build_config(ModelConfig, {"context_length": 4, "horizon": 2}).non_negative
    assert run(make_model("autoregressive"), -make_batch().past).mean.max() < 0


# ---- Transforms


@pytest.mark.parametrize("transform", CURVED)
def test_quantiles_are_those_of_the_transformed_series_changed_back(transform):
    plain, curved, past = model_of("identity"), model_of(transform), make_batch(4).past.abs().clamp(min=1)
    function = curved.transform
    expected = function.restore(torch.from_numpy(run(plain, function.change(past)).quantiles))
    np.testing.assert_allclose(run(curved, past).quantiles, expected.numpy(), rtol=1e-12)


@pytest.mark.parametrize("head", ["mse", "mae", "huber"])
@pytest.mark.parametrize("transform", CURVED)
def test_a_point_is_changed_back_as_it_is(transform, head):
    plain, curved = (model_of(kind, head={"kind": head}) for kind in ("identity", transform))
    past, function = make_batch(4).past.abs().clamp(min=1), curved.transform
    expected = function.restore(torch.from_numpy(run(plain, function.change(past)).mean))
    np.testing.assert_allclose(run(curved, past).mean, expected.numpy(), rtol=1e-12)


@pytest.mark.parametrize("head", ["quantile", "student_t"])
@pytest.mark.parametrize("transform", CURVED)
def test_the_mean_is_that_of_equal_shares_of_the_distribution(transform, head):
    model, past = model_of(transform, head={"kind": head}), make_batch(2).past.clamp(min=1)
    seen = torch.ones_like(past, dtype=torch.bool)
    shares = model.forecast(past, seen, horizon=3, quantile_levels=MIDDLES)
    np.testing.assert_allclose(shares.mean, shares.quantiles.mean(axis=-1), rtol=1e-12)


@pytest.mark.parametrize("transform", CURVED)
def test_the_mean_of_light_tails_is_close_to_that_of_many_draws(transform):
    model, past = model_of(transform), make_batch(2).past.clamp(min=1)
    levels = tuple(((np.arange(20_000) + 0.5) / 20_000).tolist())
    forecast = model.forecast(past, torch.ones_like(past, dtype=torch.bool), horizon=3, quantile_levels=levels)
    np.testing.assert_allclose(forecast.mean, forecast.quantiles.mean(axis=-1), rtol=0.01)


@given(factor=st.floats(1e-3, 1e6), slope=st.floats(-100, 100), shift=st.floats(-1e4, 1e4))
def test_a_straight_line_added_to_a_series_is_added_to_a_forecast_by_differences(factor, slope, shift):
    model, past = model_of("difference"), make_batch(3).past
    line = shift + slope * torch.arange(CONTEXT + HORIZON, dtype=torch.float64)
    before, after = run(model, past), run(model, factor * past + line[:CONTEXT])
    expected = factor * before.quantiles + line[CONTEXT:, None].numpy()
    np.testing.assert_allclose(after.quantiles, expected, atol=3e-4 * factor, rtol=1e-6)


@pytest.mark.parametrize("kind", ["log1p", "logarithm, mae, never negative"])
def test_a_value_that_the_transform_cannot_take_is_refused(kind):
    past = make_batch().past.clamp(min=1)
    past[1, 4] = -3.0
    with pytest.raises(DataError, match=r"the first -3\.0,.*takes values above"):
        run(make_model(kind), past)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"transform": {"kind": "difference"}, "draft": {"kind": "ridge"}}, "draft level 'newest'"),
        ({"transform": {"kind": "difference", "lag": 30}}, "lag 30 must be less than context_length 30"),
        ({"transform": {"kind": "box_cox", "power": -1}}, "power"),
        ({"transform": {"kind": "sqrt"}}, "transform"),
    ],
)
def test_transforms_that_do_not_fit_are_refused_by_name(changes, match):
    with pytest.raises(ConfigError, match=match):
        build_config(ModelConfig, {"context_length": 30, "horizon": 2, **changes})


# ---- Weights


@pytest.mark.parametrize("kind", KINDS)
def test_a_target_of_weight_0_counts_as_one_unobserved(kind):
    model, batch = make_model(kind), make_batch()
    weight = torch.rand(3, HORIZON, dtype=torch.float64) + 0.5
    weight[1, 3] = weight[2, :] = 0.0
    weighted = replace(batch, weight=weight)
    hidden = replace(weighted, future_observed=batch.future_observed & (weight > 0))
    assert torch.equal(model.free_running_loss(weighted), model.free_running_loss(hidden))
    assert not torch.equal(model.free_running_loss(weighted), model.free_running_loss(batch))


def test_a_weight_of_two_is_a_window_twice():
    model, batch = make_model("autoregressive"), make_batch()
    weight = torch.ones(3, HORIZON, dtype=torch.float64)
    weight[1] = 2.0
    twice = batch.rows(torch.tensor([0, 1, 1, 2]))
    weighted = replace(batch, weight=weight)
    torch.testing.assert_close(model.teacher_forced_loss(weighted), model.teacher_forced_loss(twice))
