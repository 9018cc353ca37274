"""The contract of a transform, over the whole union: a new member is tested by being listed."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from torch import Tensor

from forecast.config import to_plain
from forecast.transform import Transform, Transformation, Transformed
from forecast.transform.arcsinh import ArcsinhFunction

build_config: Callable[[dict[str, Any]], Any] = TypeAdapter(Transform).validate_python

KINDS: dict[str, dict[str, Any]] = {
    "identity": {"kind": "identity"},
    "log1p": {"kind": "log1p"},
    "logarithm": {"kind": "box_cox", "power": 0.0},
    "nearly the logarithm": {"kind": "box_cox", "power": 1e-3},
    "tenth root": {"kind": "box_cox", "power": 0.1},
    "below the tenth root": {"kind": "box_cox", "power": 0.0999},
    "square root": {"kind": "box_cox", "power": 0.5},
    "power 1": {"kind": "box_cox", "power": 1.0},
    "arcsinh": {"kind": "arcsinh"},
    "arcsinh of thousands": {"kind": "arcsinh", "scale": 1000.0},
    "difference": {"kind": "difference"},
    "difference of a season": {"kind": "difference", "lag": 5},
}
SIGNED = ["identity", "arcsinh", "arcsinh of thousands", "difference", "difference of a season"]
POINTWISE = [kind for kind in KINDS if not kind.startswith("difference")]
CONTEXT, HORIZON = 14, 9
EXACT = 100 * np.finfo(np.float64).eps  # of the value: logarithms of large values are rounded in units of themselves

magnitudes = st.floats(-8, 12).map(lambda exponent: 10.0**exponent)
kinds = st.sampled_from(list(KINDS))


def build(kind: str) -> Transformation:
    return build_config(KINDS[kind]).build()


def draw(num_steps: int, *, seed: int = 0, size: int = 3) -> tuple[Tensor, Tensor]:
    """Positive values over two decades, one in five unobserved, the newest and the first observed."""
    generator = torch.Generator().manual_seed(seed)
    values = 10 ** (2 * torch.rand(size, num_steps, generator=generator, dtype=torch.float64))
    observed = torch.rand(size, num_steps, generator=generator) > 0.2
    observed[:, [0, -1]] = True
    return torch.where(observed, values, 0.0), observed


def open_window(kind: str, past: Tensor, observed: Tensor) -> Transformed:
    return build(kind).open(past, observed, horizon=HORIZON)


def moving(size: int = 3) -> Tensor:
    return torch.ones(size, 1, dtype=torch.bool)


@pytest.mark.parametrize("kind", KINDS)
def test_transform_is_built_from_its_plain_configuration(kind):
    config = build_config(KINDS[kind])
    assert build_config(to_plain(config)) == config


@given(kind=kinds, values=st.lists(magnitudes, min_size=HORIZON, max_size=HORIZON), seed=st.integers(0, 99))
def test_what_was_changed_changes_back_to_float64_rounding(kind, values, seed):
    future = torch.tensor([values], dtype=torch.float64)
    window = open_window(kind, *draw(CONTEXT, seed=seed, size=1))
    back = window.undo(window.apply(future, torch.ones_like(future, dtype=torch.bool)), moves=moving(1))
    # A change of 1e2 to 1e-8 is rounded in units of the larger value: nothing finer is left to come back.
    largest = 1e2 if kind.startswith("difference") else 0.0
    assert ((back - future).abs() <= EXACT * future.clamp(min=largest)).all()


@given(kind=st.sampled_from(SIGNED), values=st.lists(magnitudes, min_size=HORIZON, max_size=HORIZON))
def test_negative_values_change_back_as_exactly(kind, values):
    future = -torch.tensor([values], dtype=torch.float64)
    window = open_window(kind, *draw(CONTEXT, size=1))
    back = window.undo(window.apply(future, torch.ones_like(future, dtype=torch.bool)), moves=moving(1))
    largest = 1e2 if kind.startswith("difference") else 0.0
    assert ((back - future).abs() <= EXACT * future.abs().clamp(min=largest)).all()


@given(kind=kinds, numbers=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=7).map(sorted))
def test_quantiles_stay_in_order_and_finite(kind, numbers):
    window = open_window(kind, *draw(CONTEXT))
    quantiles = torch.tensor(numbers, dtype=torch.float64).expand(3, HORIZON, -1)
    restored = window.undo(quantiles, moves=moving())
    assert restored.isfinite().all()
    assert (restored.diff(dim=-1) >= 0).all()


class Jagged(ArcsinhFunction):
    """An inverse whose rounding is out of order, as a library's may be in the last bit."""

    def restore(self, changed: Tensor) -> Tensor:
        return super().restore(changed) * (1 - 1e-12 * (torch.arange(changed.shape[-1]).double() % 2))


def test_rounding_of_an_inverse_does_not_put_quantiles_out_of_order():
    past, observed = draw(CONTEXT)
    window = Jagged("jagged", scale=1.0).open(past, observed, horizon=HORIZON)
    quantiles = window.undo(torch.ones(3, HORIZON, 5, dtype=torch.float64), moves=moving())
    assert (quantiles.diff(dim=-1) >= 0).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_quantile_changes_back_as_a_point_of_the_same_value_does(kind):
    window = open_window(kind, *draw(CONTEXT))
    points = torch.randn(3, HORIZON, dtype=torch.float64)
    restored = window.undo(points[..., None].expand(3, HORIZON, 2), moves=moving())
    torch.testing.assert_close(restored[..., 1], window.undo(points, moves=moving()), rtol=EXACT, atol=0)


@given(kind=st.sampled_from(POINTWISE), number=st.floats(-1e9, 1e9))
def test_whatever_is_forecast_can_be_taken_as_a_past_again(kind, number):
    window = open_window(kind, *draw(CONTEXT))
    fed_back = window.undo(torch.full((3, HORIZON), number, dtype=torch.float64), moves=moving())
    again = open_window(kind, fed_back, torch.ones_like(fed_back, dtype=torch.bool))
    assert again.past.isfinite().all()


@pytest.mark.parametrize("garbage", [torch.nan, torch.inf, -1e300, -5.0, 7.0])
@pytest.mark.parametrize("kind", KINDS)
def test_what_stands_in_unobserved_steps_is_never_read(kind, garbage):
    (past, observed), (future, seen) = draw(CONTEXT), draw(HORIZON, seed=1)
    clean = open_window(kind, past, observed)
    dirty = open_window(kind, torch.where(observed, past, garbage), observed)
    assert torch.equal(dirty.past, clean.past)
    assert torch.equal(dirty.observed, clean.observed)
    assert (clean.past[~clean.observed] == 0).all()
    changed = clean.apply(future, seen)
    assert torch.equal(dirty.apply(torch.where(seen, future, garbage), seen), changed)
    assert (changed[~seen] == 0).all()
    assert torch.equal(dirty.undo(changed, moves=moving()), clean.undo(changed, moves=moving()))


@pytest.mark.parametrize("value", [0.1, 7.0, 1e20, float(2**53)])
@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_window_that_does_not_move_comes_back_to_the_bit(kind, value):
    past = torch.full((2, CONTEXT), value, dtype=torch.float64)
    window = open_window(kind, past, torch.ones_like(past, dtype=torch.bool))
    level = window.past[:, -1:].expand(2, HORIZON)
    assert (window.undo(level, moves=~moving(2)) == value).all()


@pytest.mark.parametrize("kind", KINDS)
def test_a_panel_is_transformed_as_its_windows_are(kind, panel_of):
    past, observed = draw(CONTEXT, size=2)
    rows = torch.where(observed, past, torch.nan).tolist()
    panel = panel_of(a=rows[0], b=rows[1])
    transformed = build(kind).transform_panel(panel)
    window = open_window(kind, past, observed)
    np.testing.assert_array_equal(transformed.values, window.past.flatten().numpy())
    np.testing.assert_array_equal(transformed.observed, window.observed.flatten().numpy())
    assert transformed.ids == panel.ids


@pytest.mark.parametrize("kind", KINDS)
def test_a_window_with_nothing_observed_changes_to_nothing_and_back(kind):
    past = torch.zeros(2, CONTEXT, dtype=torch.float64)
    window = open_window(kind, past, torch.zeros_like(past, dtype=torch.bool))
    assert not window.observed.any()
    assert window.undo(torch.zeros(2, HORIZON, dtype=torch.float64), moves=~moving(2)).isfinite().all()


@pytest.mark.parametrize("kind", KINDS)
def test_shorter_horizons_are_the_beginning_of_longer_ones(kind):
    window, values = open_window(kind, *draw(CONTEXT)), torch.rand(3, HORIZON, dtype=torch.float64)
    whole = window.undo(values, moves=moving())
    for horizon in (1, 4, HORIZON):
        beginning = window.undo(values[:, :horizon], moves=moving())
        torch.testing.assert_close(beginning, whole[:, :horizon], rtol=EXACT, atol=0)
        assert window.num_summed(horizon).expand(3, horizon).shape == (3, horizon)
