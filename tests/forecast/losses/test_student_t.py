"""The Student-t head against scipy's distribution."""

import numpy as np
import pytest
import torch
from scipy.stats import t as distribution

from forecast.losses import StudentT
from forecast.losses.student_t import SMALLEST_SCALE

HEAD = StudentT()
RAW = torch.tensor([[[0.0, 0.0, 0.0], [3.0, -2.0, 5.0], [-1.0, 4.0, -30.0], [1e3, -40.0, 1.0]]], dtype=torch.float64)


def scipys(raw: torch.Tensor):
    """Give scipy's distribution of every step: location, a positive scale, and more than two degrees of freedom."""
    location, scale, freedom = raw.numpy().transpose(2, 0, 1)
    return distribution(df=2 + np.logaddexp(0, freedom), loc=location, scale=np.logaddexp(0, scale) + SMALLEST_SCALE)


def test_quantiles_are_those_of_scipy():
    levels = (1e-6, 0.05, 0.3, 0.5, 0.8, 0.999)
    expected = np.stack([scipys(RAW).ppf(level) for level in levels], axis=-1)
    np.testing.assert_allclose(HEAD.quantiles(RAW, levels), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("actual", [-50.0, 0.0, 2.5, 1e3])
def test_loss_is_the_negative_log_likelihood_of_scipy(actual):
    actuals = torch.full((1, 4), actual, dtype=torch.float64)
    expected = -scipys(RAW).logpdf(actuals.numpy())
    np.testing.assert_allclose(HEAD.loss(RAW, actuals, torch.ones(1, 1).double()), expected, rtol=1e-9)


def test_mean_is_that_of_scipy():
    np.testing.assert_allclose(HEAD.mean(RAW), scipys(RAW).mean())


def test_likelihood_of_a_step_hit_exactly_stays_finite():
    narrow = torch.tensor([[[1.0, -1e4, 0.0]]], requires_grad=True)
    loss = HEAD.loss(narrow, torch.ones(1, 1), torch.ones(1, 1))
    loss.sum().backward()
    assert loss.isfinite().all()
    assert narrow.grad.isfinite().all()


def test_default_levels_are_those_of_the_configuration():
    assert StudentT(quantile_levels=(0.25, 0.75)).default_quantile_levels == (0.25, 0.75)
