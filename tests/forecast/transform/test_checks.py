"""Series that a transform cannot take are named, with the values, the stamp and what to do."""

import pytest
import torch

from forecast.errors import DataError
from forecast.transform import Arcsinh, BoxCox, Difference, Identity, Log1p, outside_series, refuse_outside_series
from forecast.transform.domain import Domain

NAN = float("nan")


@pytest.fixture
def panel(panel_of):
    return panel_of(good=[1.0, 2.0, 3.0], old=[-1.0, NAN, 0.5], low=[2.0, -5.0, -7.0])


def test_series_with_values_outside_are_given_with_count_first_value_and_stamp(panel):
    found = outside_series(panel, Log1p().build())
    assert list(found) == ["low", "old"]
    assert str(found["low"]) == (
        "series 'low': the target has 2 values that the transform 'log1p' cannot take, the first -5.0 at "
        "2024-01-01 01:00:00; it takes values above -1; correct them, or choose the transform 'arcsinh', which takes "
        "any value"
    )
    assert found["low"].series == "low"


def test_a_panel_is_refused_by_its_first_series_at_fault_and_how_many_more_there_are(panel, panel_of):
    with pytest.raises(
        DataError, match=r"(?s)series 'low': .*2 values.*\n1 more series are at fault: 'old'$"
    ) as refusal:
        refuse_outside_series(panel, Log1p().build())
    assert refusal.value.series == "low"
    with pytest.raises(DataError, match=r"\n6 more series are at fault: '1', '2', '3', '4', '5', \.\.\.$"):
        refuse_outside_series(panel_of(**{str(number): [-9.0, -9.0] for number in range(7)}), Log1p().build())
    refuse_outside_series(panel, Identity().build())
    refuse_outside_series(panel.select([0]), Log1p().build())


def test_only_the_newest_steps_count_where_a_context_is_given(panel):
    assert list(outside_series(panel, Log1p().build(), context_length=2)) == ["low"]
    assert "1 values" in str(outside_series(panel, Log1p().build(), context_length=1)["low"])
    assert list(outside_series(panel, Log1p().build(), context_length=50)) == ["low", "old"]


def test_unobserved_steps_hold_nothing_to_refuse(panel_of):
    assert outside_series(panel_of(a=[1.0, NAN, 2.0]), BoxCox(power=0.0).build()) == {}


@pytest.mark.parametrize("config", [Identity(), Arcsinh(), Difference()], ids=lambda config: config.kind)
def test_transforms_of_any_value_refuse_none(config, panel):
    assert outside_series(panel, config.build()) == {}


def test_a_window_with_a_value_outside_is_refused():
    steps = torch.tensor([[1.0, -3.0]], dtype=torch.float64)
    seen = torch.ones_like(steps, dtype=torch.bool)
    with pytest.raises(DataError, match=r"1 values of a window, the first -3\.0,.*'log1p'.*above -1.*arcsinh"):
        Log1p().build().open(steps, seen, horizon=1)
    opened = Log1p().build().open(steps.abs(), seen, horizon=2)
    with pytest.raises(DataError, match="the first -3"):
        opened.apply(steps, seen)


def test_a_domain_says_what_it_holds():
    assert str(Domain()) == "any value"
    assert str(Domain(lowest=0.0)) == "values of 0 or more"
    assert str(Domain(lowest=-1.0, closed=False)) == "values above -1"
