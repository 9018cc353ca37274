"""What windows are measured by."""

import pytest
import torch

from forecast.model.scaling import MeanStd, NewestStd

PAST = torch.tensor([[50.0, 70.0, 1.0, 3.0, 1.0, 3.0]], dtype=torch.float64)
OBSERVED = torch.ones_like(PAST, dtype=torch.bool)


@pytest.mark.parametrize(("scaling", "level"), [(MeanStd(newest=4), 2.0), (NewestStd(newest=4), 3.0)])
def test_newest_steps_alone_are_measured(scaling, level):
    scale = scaling.measure(PAST, OBSERVED)
    assert scale.level.item() == level
    assert scale.spread.item() == pytest.approx(1.0)
    longer = torch.cat([PAST * 9, PAST], dim=1)
    again = scaling.measure(longer, torch.ones_like(longer, dtype=torch.bool))
    assert again.level.item() == level
    assert again.spread.item() == scale.spread.item()


@pytest.mark.parametrize("scaling", [MeanStd(newest=2), NewestStd(newest=2)])
def test_window_whose_newest_steps_do_not_move_is_measured_whole(scaling):
    still = torch.tensor([[4.0, 8.0, 6.0, 6.0]], dtype=torch.float64)
    observed = torch.ones_like(still, dtype=torch.bool)
    whole = type(scaling)().measure(still, observed)
    scale = scaling.measure(still, observed)
    assert scale.level.item() == whole.level.item()
    assert scale.spread.item() == whole.spread.item() > 0
    hidden = torch.tensor([[True, True, False, False]])
    assert scaling.measure(still, hidden).spread.item() == pytest.approx(2.0)
