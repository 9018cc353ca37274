"""Levels are drawn row by row, evenly; quantiles are read from paths; paths become rows and come back."""

import numpy as np
import pytest
import torch

from forecast.model import paths as module
from forecast.model.context import Context
from forecast.model.paths import Fan, draw_levels, quantiles_of, sample_paths

ASKED = {"seed": 3, "num_paths": 8, "horizon": 5}


def test_a_row_draws_the_same_whatever_rows_are_beside_it():
    together, alone = draw_levels([4, 9, 2**63 + 1], **ASKED), draw_levels([9], **ASKED)
    assert together.shape == (3, 8, 5)
    assert torch.equal(together[1:2], alone)


def test_other_rows_and_other_seeds_draw_otherwise():
    levels = draw_levels([4, 9], **ASKED)
    assert not torch.equal(levels[0], levels[1])
    assert not torch.equal(levels, draw_levels([4, 9], **{**ASKED, "seed": 4}))
    assert not torch.equal(levels[0], draw_levels([3], **{**ASKED, "seed": 4})[0])  # seed and row are no sum


def test_a_shorter_horizon_draws_the_beginning_of_a_longer_one():
    longer = draw_levels([4], **{**ASKED, "horizon": 12})
    assert torch.equal(draw_levels([4], **ASKED), longer[..., :5])


def test_at_each_step_the_paths_fall_one_into_each_equal_share():
    levels = draw_levels([4, 9], seed=0, num_paths=50, horizon=20)
    assert torch.equal((levels * 50).floor().sort(dim=1).values[0, :, 7], torch.arange(50, dtype=torch.float64))
    assert 0 < levels.min() < levels.max() < 1


def test_steps_of_one_path_and_neighbouring_paths_are_unrelated():
    scores = torch.special.ndtri(draw_levels([4], seed=0, num_paths=2000, horizon=30)[0])
    assert (torch.corrcoef(scores.T) - torch.eye(30)).abs().max() < 0.1  # 4.5 deviations of 1 / sqrt(2000)
    assert abs(torch.corrcoef(torch.stack([scores[:-1].flatten(), scores[1:].flatten()]))[0, 1]) < 0.02


def test_quantiles_of_paths_are_those_of_numpy():
    paths = torch.randn(2, 31, 4, dtype=torch.float64)
    levels = (0.001, 0.05, 0.5, 0.731, 0.999)
    expected = np.quantile(paths.numpy(), levels, axis=1, method="hazen")
    np.testing.assert_allclose(quantiles_of(paths, levels).numpy(), np.moveaxis(expected, 0, -1), rtol=1e-12)


def test_quantiles_of_one_path_are_that_path():
    paths = torch.randn(2, 1, 4, dtype=torch.float64)
    assert torch.equal(quantiles_of(paths, (0.1, 0.9)), paths[:, 0, :, None].expand(-1, -1, 2))


@pytest.mark.parametrize("num_channels", [1, 2])
def test_paths_become_rows_and_come_back(num_channels):
    fan, paths = Fan(num_channels=num_channels, num_paths=3), torch.arange(4 * 3 * 2).view(4, 3, 2)
    rows = fan.rows(paths)
    assert torch.equal(fan.paths(rows), paths)
    assert torch.equal(rows // 6, fan.sources(4, device=rows.device)[:, None].expand(-1, 2))


def test_channels_of_an_entity_go_together_path_by_path():
    fan = Fan(num_channels=2, num_paths=3)
    assert fan.sources(4, device=torch.device("cpu")).tolist() == [0, 1] * 3 + [2, 3] * 3


def carry_on(context: Context, levels: torch.Tensor) -> torch.Tensor:
    """A block whose steps are the newest value of the past, moved on by the level drawn."""
    return context.past[:, None, -1:] + levels.cumsum(dim=-1)


@pytest.mark.parametrize("at_once", [1, 70, 10_000])
@pytest.mark.parametrize("num_channels", [1, 2])
def test_each_path_goes_on_from_what_it_drew(monkeypatch, num_channels, at_once):
    monkeypatch.setattr(module, "STEPS_AT_ONCE", at_once)
    past = torch.arange(4 * 6, dtype=torch.float64).view(4, 6)
    context = Context(past, torch.ones_like(past, dtype=torch.bool), covariates=None)
    levels = draw_levels(range(4), seed=1, num_paths=3, horizon=8)
    drawn = sample_paths(carry_on, context, levels, block=3, num_channels=num_channels)
    torch.testing.assert_close(drawn, past[:, None, -1:] + levels.cumsum(dim=-1))
