"""The contract of a head, over the whole union: a new member is tested by being listed."""

from collections.abc import Callable
from typing import get_args

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from torch import Tensor

from forecast.config import to_plain
from forecast.errors import QuantilesUnavailable
from forecast.losses import AnyHead, Head, PointHead, masked_mean

build: Callable[[dict], Head] = TypeAdapter(AnyHead).validate_python
HEADS: list[Head] = [head() for head in get_args(get_args(AnyHead)[0])]
POINT_HEADS = [head for head in HEADS if isinstance(head, PointHead)]
SPREAD_HEADS = [head for head in HEADS if not isinstance(head, PointHead)]
ERROR_HEADS = [head for head in HEADS if head.kind != "student_t"]  # a likelihood is a density, which may exceed 1
BATCH, HORIZON = 3, 4
LEVELS = (0.001, 0.1, 0.37, 0.5, 0.9, 0.9999)


def over(heads: list[Head]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("head", heads, ids=lambda head: head.kind)


def draw_parameters(head: Head) -> Tensor:
    return 2 * torch.randn(BATCH, HORIZON, head.num_parameters, dtype=torch.float64)


def draw_actual() -> Tensor:
    return torch.randn(BATCH, HORIZON, dtype=torch.float64)


def ones() -> Tensor:
    return torch.ones(BATCH, 1, dtype=torch.float64)


def moved(parameters: Tensor, by: float) -> Tensor:
    """Move the location, as a draft does, and leave the spread."""
    return torch.cat([parameters[..., :1] + by, parameters[..., 1:]], dim=-1)


# ---- Every head


@over(HEADS)
def test_head_is_built_from_its_plain_configuration(head):
    assert build(to_plain(head)) == head


@over(HEADS)
def test_head_gives_a_finite_number_for_every_step(head):
    parameters = draw_parameters(head)
    for number in (head.loss(parameters, draw_actual(), ones()), head.mean(parameters), head.median(parameters)):
        assert number.shape == (BATCH, HORIZON)
        assert number.isfinite().all()


@over(HEADS)
def test_default_levels_can_be_asked_for(head):
    levels = head.default_quantile_levels
    assert head.quantiles(draw_parameters(head), levels).shape == (BATCH, HORIZON, len(levels))


@over(ERROR_HEADS)
def test_error_is_never_negative(head):
    assert (head.loss(draw_parameters(head), draw_actual(), ones()) >= 0).all()


@over(HEADS)
def test_loss_is_least_where_the_location_is_the_actual(head):
    hit = torch.zeros(BATCH, HORIZON, head.num_parameters, dtype=torch.float64)
    actual = torch.zeros(BATCH, HORIZON, dtype=torch.float64)
    losses = [head.loss(moved(hit, by), actual, ones()).sum().item() for by in (0.0, 0.1, -0.1, 3.0, -3.0)]
    assert losses[0] < losses[1] < losses[3]
    assert losses[1::2] == pytest.approx(losses[2::2])


@over(HEADS)
def test_every_parameter_learns_from_the_loss(head):
    parameters = draw_parameters(head).requires_grad_()
    head.loss(parameters, draw_actual(), ones()).sum().backward()
    assert parameters.grad.isfinite().all()
    assert (parameters.grad.abs().sum(dim=(0, 1)) > 0).all()


@over(HEADS)
def test_moving_the_location_moves_the_forecast_as_far(head):
    parameters, levels = draw_parameters(head), LEVELS if head in SPREAD_HEADS else ()
    for by in (0.5, -40.0):
        there = moved(parameters, by)
        torch.testing.assert_close(head.mean(there), head.mean(parameters) + by)
        torch.testing.assert_close(head.median(there), head.median(parameters) + by)
        torch.testing.assert_close(head.quantiles(there, levels), head.quantiles(parameters, levels) + by)


@over(HEADS)
def test_moving_location_and_actual_together_leaves_the_loss(head):
    parameters, actual = draw_parameters(head), draw_actual()
    there = head.loss(moved(parameters, 7.0), actual + 7.0, ones())
    torch.testing.assert_close(there, head.loss(parameters, actual, ones()))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("mse", lambda loss, unit: loss * unit**2),
        ("mae", lambda loss, unit: loss * unit),
        ("quantile", lambda loss, unit: loss * unit),
        ("student_t", lambda loss, unit: loss + unit.log()),
    ],
)
def test_loss_is_measured_in_the_unit_given(kind, expected):
    head = build({"kind": kind})
    parameters, actual, unit = draw_parameters(head), draw_actual(), torch.tensor([[0.5], [1.0], [20.0]]).double()
    loss = head.loss(parameters, actual, ones())
    torch.testing.assert_close(head.loss(parameters, actual, unit), expected(loss, unit))


@pytest.mark.parametrize(("error", "expected"), [(0.5, 0.125), (2.0, 2.0), (-6.0, 10.0)])
def test_huber_is_squared_up_to_delta_and_straight_beyond(error, expected):
    head = build({"kind": "huber", "delta": 2.0})
    for unit in (1.0, 4.0):  # delta is in the unit of the loss: the same error in another unit weighs the same
        given = head.loss(torch.full((1, 1, 1), error / unit), torch.zeros(1, 1), torch.full((1, 1), unit))
        assert given.item() == pytest.approx(expected)


# ---- Heads with a spread


@over(SPREAD_HEADS)
def test_quantiles_never_descend_as_levels_ascend(head):
    quantiles = head.quantiles(10 * draw_parameters(head), LEVELS)
    assert quantiles.isfinite().all()
    assert (quantiles.diff(dim=-1) >= 0).all()


@over(SPREAD_HEADS)
def test_the_middle_quantile_is_the_median_that_decoding_feeds_back(head):
    parameters = draw_parameters(head)
    torch.testing.assert_close(head.quantiles(parameters, (0.5,))[..., 0], head.median(parameters))


@over(SPREAD_HEADS)
@given(level=st.floats(1e-12, 1 - 1e-12))
def test_a_quantile_does_not_depend_on_what_else_is_asked_for(head, level):
    parameters = torch.arange(head.num_parameters, dtype=torch.float32).expand(1, 1, -1) / 3
    among = head.quantiles(parameters, (1e-13, level, 1 - 1e-13))
    assert among.isfinite().all()
    torch.testing.assert_close(among[..., 1:2], head.quantiles(parameters, (level,)))


@over(SPREAD_HEADS)
def test_a_sample_is_the_quantile_at_the_level_drawn(head):
    parameters, drawn = draw_parameters(head), torch.tensor([LEVELS[:HORIZON], LEVELS[-HORIZON:]], dtype=torch.float64)
    paths = head.sample(parameters[:, None], drawn.expand(BATCH, -1, -1))
    assert paths.shape == (BATCH, len(drawn), HORIZON)
    for path, levels in enumerate(drawn.tolist()):
        for step, level in enumerate(levels):
            expected = head.quantiles(parameters[:, step : step + 1], (level,))
            torch.testing.assert_close(paths[:, path, step : step + 1], expected[..., 0])


@over(SPREAD_HEADS)
def test_samples_are_finite_as_far_out_as_levels_are_drawn(head):
    ends = torch.tensor([2.0**-60, 1 - 2.0**-53], dtype=torch.float64).repeat(HORIZON // 2)
    assert head.sample(draw_parameters(head).float(), ends).isfinite().all()


@over(SPREAD_HEADS)
@pytest.mark.parametrize("levels", [(0.5, 0.1), (0.5, 0.5), (0.0, 0.5), (0.5, 1.0)])
def test_default_levels_out_of_order_or_range_are_refused(head, levels):
    with pytest.raises(ValueError, match=r"levels must ascend inside \(0, 1\)"):
        build({"kind": head.kind, "quantile_levels": list(levels)})


# ---- Heads of a point


@over(POINT_HEADS)
def test_point_head_says_which_heads_have_quantiles(head):
    with pytest.raises(QuantilesUnavailable, match=r"\(0\.1, 0\.9\).*train with head 'quantile' or 'student_t'"):
        head.quantiles(draw_parameters(head), (0.1, 0.9))


@over(POINT_HEADS)
def test_point_head_says_which_heads_have_sample_paths(head):
    with pytest.raises(QuantilesUnavailable, match=r"sample paths.*train with head 'quantile' or 'student_t'"):
        head.sample(draw_parameters(head), torch.full((BATCH, HORIZON), 0.5, dtype=torch.float64))


@over(POINT_HEADS)
def test_point_is_mean_and_median(head):
    parameters = draw_parameters(head)
    assert torch.equal(head.mean(parameters), parameters[..., 0])
    assert torch.equal(head.median(parameters), parameters[..., 0])


# ---- The mean over what was observed


def test_masked_mean_weighs_observed_steps_alike_and_others_not_at_all():
    loss = torch.tensor([[1.0, 2.0, torch.nan], [6.0, torch.inf, -torch.inf]])
    observed = torch.tensor([[True, True, False], [True, False, False]])
    assert masked_mean(loss, observed).item() == pytest.approx(3.0)


def test_masked_mean_of_nothing_is_zero():
    assert masked_mean(torch.ones(2, 3), torch.zeros(2, 3, dtype=torch.bool)).item() == 0.0


def test_unobserved_steps_teach_nothing():
    loss = torch.ones(2, 3, requires_grad=True)
    observed = torch.tensor([[True, False, True], [False, False, False]])
    masked_mean(loss, observed).backward()
    assert torch.equal(loss.grad, observed / 2)


# ---- Sample weights


def draw_weighted() -> tuple[Tensor, Tensor, Tensor]:
    observed = torch.rand(BATCH, HORIZON) > 0.3
    observed[0, 0] = True
    return torch.randn(BATCH, HORIZON), observed, torch.rand(BATCH, HORIZON, dtype=torch.float64) + 0.1


def test_a_weight_counts_a_step_that_often():
    loss = torch.tensor([[1.0, 2.0, 5.0], [6.0, 7.0, 8.0]])
    observed = torch.tensor([[True, True, False], [True, False, False]])
    weight = torch.tensor([[3.0, 1.0, 9.0], [2.0, 9.0, 9.0]])
    assert masked_mean(loss, observed, weight=weight).item() == pytest.approx((3 * 1 + 2 + 2 * 6) / 6)


@given(factor=st.floats(-300, 300).map(lambda exponent: 10.0**exponent))
def test_weights_count_against_each_other_alone(factor):
    loss, observed, weight = draw_weighted()
    expected = masked_mean(loss, observed, weight=weight)
    torch.testing.assert_close(masked_mean(loss, observed, weight=factor * weight), expected)


@given(weight=st.floats(-300, 300).map(lambda exponent: 10.0**exponent))
def test_equal_weights_are_as_none(weight):
    loss, observed, _ = draw_weighted()
    equal = torch.full_like(loss, weight, dtype=torch.float64)
    torch.testing.assert_close(masked_mean(loss, observed, weight=equal), masked_mean(loss, observed))


@given(garbage=st.sampled_from([torch.nan, torch.inf, -1e30, 4.0]), place=st.integers(0, BATCH * HORIZON - 1))
def test_a_step_of_weight_0_is_as_one_unobserved_to_the_bit(garbage, place):
    loss, observed, weight = draw_weighted()
    weight.view(-1)[place], hidden = 0.0, observed.clone()
    hidden.view(-1)[place] = False
    dirty = loss.clone()
    dirty.view(-1)[place] = garbage
    assert torch.equal(masked_mean(dirty, observed, weight=weight), masked_mean(loss, hidden, weight=weight))


def test_what_counts_for_nothing_teaches_nothing():
    loss = torch.ones(2, 3, requires_grad=True)
    observed = torch.tensor([[True, True, False], [True, False, False]])
    masked_mean(loss, observed, weight=torch.tensor([[1.0, 0.0, 5.0], [3.0, 5.0, 5.0]])).backward()
    assert torch.equal(loss.grad, torch.tensor([[0.25, 0.0, 0.0], [0.75, 0.0, 0.0]]))


def test_weighted_mean_of_nothing_is_zero():
    loss, observed, weight = draw_weighted()
    for seen, weights in ((observed, 0 * weight), (torch.zeros_like(observed), weight)):
        assert masked_mean(loss, seen, weight=weights).item() == 0.0
