"""The quantile head: in order whatever the network says, exact where trained, straight between on a normal scale."""

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import norm
from torch import Tensor
from utilsforecast.losses import mqloss

from forecast.config import build_config
from forecast.errors import ConfigError
from forecast.losses import Quantile
from forecast.losses.quantile import NARROW, pinball

HEAD = Quantile()
LEVELS = st.lists(st.floats(1e-15, 1 - 1e-15), min_size=1, max_size=12).map(lambda levels: tuple(sorted(levels)))
PARAMETERS = arrays.arrays(np.float32, HEAD.num_parameters, elements=st.floats(-1e6, 1e6, width=32))


def step(parameters) -> Tensor:
    """Give the parameters of one step of one window."""
    return torch.as_tensor(np.asarray(parameters))[None, None]


def normal_parameters(head: Quantile, *, mean: float, deviation: float) -> Tensor:
    """Give the parameters whose trained levels are those of a normal distribution."""
    middle = head.quantile_levels.index(0.5)
    steps = torch.from_numpy(np.diff(norm.ppf(head.quantile_levels))) * deviation
    steps = torch.cat([steps[middle:], steps[:middle].flip(0)])  # upwards from the median, then downwards
    return step(torch.cat([torch.tensor([mean]).double(), steps.expm1().log() - NARROW]))


@given(parameters=PARAMETERS, levels=LEVELS)
def test_quantiles_never_cross_for_any_parameters_and_any_levels(parameters, levels):
    quantiles = HEAD.quantiles(step(parameters), levels)
    assert quantiles.isfinite().all()
    assert (quantiles.diff(dim=-1) >= 0).all()


@given(parameters=PARAMETERS, chosen=st.sets(st.sampled_from(HEAD.quantile_levels), min_size=1))
def test_trained_levels_are_given_exactly_among_any_others(parameters, chosen):
    levels = tuple(sorted(chosen))
    trained = HEAD.quantiles(step(parameters), HEAD.quantile_levels)
    expected = trained[..., [HEAD.quantile_levels.index(level) for level in levels]]
    assert torch.equal(HEAD.quantiles(step(parameters), levels), expected)


def test_untrained_levels_start_close_around_the_median():
    quantiles = HEAD.quantiles(torch.zeros(1, 1, HEAD.num_parameters), HEAD.quantile_levels)[0, 0]
    assert quantiles[HEAD.quantile_levels.index(0.5)] == 0
    assert quantiles.diff().tolist() == pytest.approx([0.1269] * 10, abs=1e-4)
    torch.testing.assert_close(quantiles, -quantiles.flip(0))


def test_levels_need_not_lie_evenly_around_the_median():
    head = Quantile(quantile_levels=(0.3, 0.5, 0.6, 0.99))
    quantiles = head.quantiles(step([1.0, 10.0, 20.0, 30.0]) - NARROW, head.quantile_levels)[0, 0]
    assert quantiles.tolist() == pytest.approx([3 - 30, 3, 3 + 10, 3 + 10 + 20], abs=1e-3)


@pytest.mark.parametrize("levels", [HEAD.quantile_levels, (0.5, 0.9), (0.2, 0.5)])
def test_a_normal_distribution_is_normal_at_every_level_and_far_into_its_tails(levels):
    head = Quantile(quantile_levels=levels)
    parameters = normal_parameters(head, mean=3.0, deviation=2.0)
    asked = (1e-9, 0.001, 0.03, 0.15, 0.5, 0.77, 0.96, 0.999, 1 - 1e-9)
    expected = torch.from_numpy(norm.ppf(asked, loc=3.0, scale=2.0))
    torch.testing.assert_close(head.quantiles(parameters, asked)[0, 0], expected, atol=1e-9, rtol=1e-9)
    assert head.mean(parameters).item() == pytest.approx(3.0)


@given(parameters=arrays.arrays(np.float64, HEAD.num_parameters, elements=st.floats(-20, 20)))
def test_mean_in_closed_form_equals_numeric_integration(parameters):
    scores = np.linspace(-7.5, 7.5, 30_001)
    quantiles = HEAD.quantiles(step(parameters), tuple(norm.cdf(scores)))[0, 0].numpy()
    expected = np.trapezoid(quantiles * norm.pdf(scores), scores)
    assert HEAD.mean(step(parameters)).item() == pytest.approx(expected, abs=1e-5)


def test_mean_of_a_skewed_forecast_lies_towards_its_long_side():
    parameters = torch.zeros(1, 1, HEAD.num_parameters)
    parameters[..., 1:6] = 4.0  # wide steps upwards
    assert HEAD.mean(parameters).item() > HEAD.median(parameters).item() + 1


def test_one_level_is_the_median_at_every_level():
    head, parameters = Quantile(quantile_levels=(0.5,)), torch.randn(2, 3, 1)
    assert torch.equal(head.mean(parameters), parameters[..., 0])
    assert torch.equal(head.quantiles(parameters, (0.1, 0.9)), parameters.expand(2, 3, 2))


@pytest.mark.parametrize(
    "levels", [(), (0.1, 0.9), (0.9, 0.5, 0.1), (0.1, 0.5, 0.5), (0.0, 0.5), (0.5, 1.0), (-0.1, 0.5)]
)
def test_levels_that_do_not_ascend_around_the_median_are_refused(levels):
    with pytest.raises(ValueError, match=r"quantile levels must ascend inside \(0, 1\) and hold 0\.5, got"):
        Quantile(quantile_levels=levels)


# ---- The loss


@pytest.mark.parametrize(
    ("actual", "expected"),
    [(10.0, [0.1 * 2, 0.5 * 0, 0.1 * 3]), (20.0, [0.1 * 12, 0.5 * 10, 0.9 * 7]), (5.0, [0.9 * 3, 0.5 * 5, 0.1 * 8])],
)
def test_pinball_of_a_hand_example(actual, expected):
    forecast = torch.tensor([[[8.0, 10.0, 13.0]]])
    given = pinball(forecast, torch.tensor([[actual]]), (0.1, 0.5, 0.9))
    assert given[0, 0].tolist() == pytest.approx(expected)


def test_loss_is_twice_the_mean_pinball_of_utilsforecast():
    parameters, actual = torch.randn(2, 50, HEAD.num_parameters).double(), torch.randn(2, 50).double()
    quantiles = HEAD.quantiles(parameters, HEAD.quantile_levels).flatten(0, 1).numpy()
    names = [f"q{level}" for level in HEAD.quantile_levels]
    frame = pl.DataFrame(quantiles, schema=names).with_columns(
        unique_id=pl.Series(["a"] * 50 + ["b"] * 50), y=actual.flatten().numpy()
    )
    theirs = mqloss(frame, {"model": names}, np.array(HEAD.quantile_levels)).sort("unique_id")["model"].to_numpy()
    ours = HEAD.loss(parameters, actual, torch.ones(2, 1).double()).mean(dim=1)
    np.testing.assert_allclose(ours, 2 * theirs, rtol=1e-9)


def test_loss_of_the_median_alone_is_the_absolute_error():
    forecast, actual, unit = torch.randn(2, 3, 1), torch.randn(2, 3), torch.tensor([[1.0], [5.0]])
    given = Quantile(quantile_levels=(0.5,)).loss(forecast, actual, unit)
    torch.testing.assert_close(given, unit * (forecast[..., 0] - actual).abs())


def test_descending_the_loss_finds_the_quantiles_of_a_sample():
    sample = torch.randn(1, 1000).exp()
    parameters = torch.zeros(1, 1, HEAD.num_parameters, requires_grad=True)
    optimizer = torch.optim.Adam([parameters], lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        HEAD.loss(parameters.expand(1, 1000, -1), sample, torch.ones(1, 1)).mean().backward()
        optimizer.step()
    found = HEAD.quantiles(parameters.detach(), HEAD.quantile_levels)[0, 0]
    expected = sample[0].quantile(torch.tensor(HEAD.quantile_levels))
    torch.testing.assert_close(found, expected, atol=0.05, rtol=0.05)


def test_a_config_error_names_the_levels():
    with pytest.raises(
        ConfigError, match=r"quantile levels must ascend inside \(0, 1\) and hold 0\.5, got \(0\.1, 0\.9\)"
    ):
        build_config(Quantile, {"quantile_levels": [0.1, 0.9]})
