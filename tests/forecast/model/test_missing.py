"""Missing values: whatever stands in unobserved steps reaches neither statistics, nor forecast, nor loss."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from forecast.batch import Batch, CovariateWindows
from forecast.config import build_config
from forecast.frames.covariates import Covariate, CovariateSchema
from forecast.losses import PointHead
from forecast.model.transformer import ForecastModel, ModelConfig
from tests.forecast.model.kinds import CONTEXT, DECODER, HORIZON, make_batch

GARBAGE = (float("nan"), float("inf"), -1e300, -5.0, 0.0)
LEVELS = (0.1, 0.5, 0.77)
LENGTH = CONTEXT + HORIZON


def soiled(values: Tensor, observed: Tensor, garbage: float) -> Tensor:
    return torch.where(observed, values, garbage)


def with_garbage(batch: Batch, garbage: float) -> Batch:
    covariates = batch.covariates
    if covariates is not None:
        covariates = replace(
            covariates,
            steps=soiled(covariates.steps, covariates.steps_observed, garbage),
            static=soiled(covariates.static, covariates.static_observed, garbage),
        )
    return replace(
        batch,
        past=soiled(batch.past, batch.past_observed, garbage),
        future=soiled(batch.future, batch.future_observed, garbage),
        covariates=covariates,
    )


def everything(model: ForecastModel, batch: Batch) -> Iterator[Tensor]:
    """All that a model makes of a batch: losses and what they teach, forecasts, and what counts."""
    model.zero_grad()
    loss = model.teacher_forced_loss(batch)
    loss.backward()
    yield from (weight.grad.clone() for weight in model.parameters() if weight.grad is not None)
    with torch.no_grad():
        free_running = model.free_running_loss(batch)
    yield from (loss.detach(), free_running)
    levels = () if isinstance(model.config.head, PointHead) else LEVELS
    horizon = HORIZON + 5
    forecast = model.forecast(
        batch.past, batch.past_observed, horizon=horizon, quantile_levels=levels, covariates=batch.covariates
    )
    yield from (torch.from_numpy(forecast.mean), torch.from_numpy(forecast.quantiles), model.scored_steps(batch))


def assert_same_to_the_bit(model: ForecastModel, batch: Batch, other: Batch) -> None:
    for before, after in zip(everything(model, batch), everything(model, other), strict=True):
        assert before.isfinite().all()
        assert torch.equal(before, after)


def holed(batch: Batch) -> Batch:
    """The batch with more holes: the newest step, a whole patch, the first step of the horizon, all of a past."""
    past_observed, future_observed = batch.past_observed.clone(), batch.future_observed.clone()
    past_observed[0, -1] = past_observed[1, 10:16] = past_observed[2] = False
    future_observed[1, 0] = False
    return replace(
        batch,
        past=soiled(batch.past, past_observed, 0.0),
        past_observed=past_observed,
        future=soiled(batch.future, future_observed, 0.0),
        future_observed=future_observed,
    )


@pytest.mark.parametrize("garbage", GARBAGE)
def test_unobserved_steps_change_no_bit_of_loss_forecast_or_gradient(model, garbage):
    batch = holed(make_batch())
    assert_same_to_the_bit(model, batch, with_garbage(batch, garbage))


def test_a_window_with_nothing_observed_weighs_nothing(model):
    batch = holed(make_batch())
    others = batch.rows(slice(0, 2))
    torch.testing.assert_close(model.free_running_loss(batch), model.free_running_loss(others))
    assert not model.scored_steps(batch)[2].any()


# ---- Covariates


SCHEMA = CovariateSchema(
    past=(Covariate(name="wind"), Covariate(name="state", kind="categorical", levels=("on", "off"))),
    future=(Covariate(name="price"), Covariate(name="day", kind="categorical", levels=("work", "rest"))),
    static=(Covariate(name="size"), Covariate(name="city", kind="categorical", levels=("a", "b", "c"))),
)


def draw_covariates(size: int) -> CovariateWindows:
    numbers = torch.randn(size, LENGTH, 2, dtype=torch.float64)
    codes = torch.randint(1, 3, (size, LENGTH, 2)).double()
    steps = torch.stack([numbers[..., 0], codes[..., 0], numbers[..., 1], codes[..., 1]], dim=-1)
    observed = torch.rand(steps.shape) > 0.3
    observed[:, CONTEXT:, :2] = False  # of the past alone
    static = torch.stack([torch.randn(size), torch.randint(1, 4, (size,))], dim=-1).double()
    static_observed = torch.rand(static.shape) > 0.3
    return CovariateWindows(
        steps=soiled(steps, observed, 0.0),
        steps_observed=observed,
        static=soiled(static, static_observed, 0.0),
        static_observed=static_observed,
    )


def model_with_covariates(**changes: object) -> ForecastModel:
    plain = {"context_length": CONTEXT, "horizon": HORIZON, "patch_length": 4, "decoder": DECODER, **changes}
    plain["layer"] = {"d_model": 16, "num_heads": 2}
    model = ForecastModel(build_config(ModelConfig, plain), covariates=SCHEMA)
    torch.nn.init.normal_(model.decoder.output.projection.weight, std=0.3)
    return model.eval()


@pytest.mark.parametrize("garbage", GARBAGE)
@pytest.mark.parametrize(
    "decoder", [DECODER, {"kind": "direct", "patch_length": 4}], ids=lambda decoder: decoder["kind"]
)
@pytest.mark.parametrize("transform", ["identity", "log1p", "difference"])
def test_unobserved_covariates_change_no_bit_of_loss_forecast_or_gradient(transform, decoder, garbage):
    model = model_with_covariates(decoder=decoder, transform={"kind": transform})
    batch = replace(holed(make_batch()), covariates=draw_covariates(3))
    assert_same_to_the_bit(model, batch, with_garbage(batch, garbage))
