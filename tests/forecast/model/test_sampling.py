"""Sample paths are what the model says of them: drawn from its own distributions, each fed what it drew itself."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from forecast.config import build_config
from forecast.errors import QuantilesUnavailable
from forecast.losses import PointHead
from forecast.model.decoding import Known, Target
from forecast.model.encoder import Memory
from forecast.model.paths import draw_levels
from forecast.model.transformer import ForecastModel, ModelConfig
from tests.forecast.model.kinds import CONTEXT, HORIZON, KINDS, make_batch, make_model
from tests.forecast.model.told import told_batch, told_model

SPREAD_KINDS = [kind for kind in KINDS if not isinstance(make_model(kind).config.head, PointHead)]
AUTOREGRESSIVE = [kind for kind in SPREAD_KINDS if KINDS[kind].get("decoder", {}).get("kind") != "direct"]
LEVELS = (0.1, 0.5, 0.9)
SAMPLES = 7


def run(model, batch, *, horizon=HORIZON, **asked):
    asked = {"quantile_levels": LEVELS, "num_samples": SAMPLES, **asked}
    return model.forecast(batch.past, batch.past_observed, horizon=horizon, covariates=batch.covariates, **asked)


def look(model, batch):
    return model._window(batch.past, batch.past_observed, batch.covariates, horizon=HORIZON)


def known_of(model, batch):
    return model.know(look(model, batch).given)


def levels(size: int = 3, *, num_paths: int = SAMPLES):
    return draw_levels(range(size), seed=5, num_paths=num_paths, horizon=HORIZON)


def repeated(known: Known, times: int) -> Known:
    """The same windows with a row for each path, memory and all."""

    def rows(tensor):
        return None if tensor is None else tensor.repeat_interleave(times, dim=0)

    memory = Memory(rows(known.memory.tokens), rows(known.memory.observed))
    own = {name: rows(getattr(known, name)) for name in vars(known) if name != "memory"}
    return replace(known, memory=memory, **own)


def assert_close(actual, expected, *, atol=1e-5):
    """Equal to so much of the swing of the paths: tails that a transform blows up are rounded in their own units."""
    swing = max(1.0, float(np.abs(expected).max()) / 30)
    np.testing.assert_allclose(actual, expected, atol=atol * 3 * swing, rtol=1e-5)


@pytest.mark.parametrize("kind", SPREAD_KINDS)
def test_paths_in_a_batch_are_those_of_each_row_alone(kind):
    model, batch = make_model(kind), make_batch()
    together = run(model, batch, horizon=2 * HORIZON + 1, row_ids=[8, 3, 5])
    assert together.mean.shape == (3, 2 * HORIZON + 1)
    for row, name in enumerate([8, 3, 5]):
        alone = run(model, batch.rows(slice(row, row + 1)), horizon=2 * HORIZON + 1, row_ids=[name])
        assert_close(alone.mean, together.mean[row : row + 1])
        assert_close(alone.quantiles, together.quantiles[row : row + 1])


@pytest.mark.parametrize("kind", SPREAD_KINDS)
@torch.inference_mode()
def test_paths_that_share_a_memory_are_those_of_one_memory_a_path(kind):
    model, known, drawn = make_model(kind), known_of(make_model(kind), make_batch()), levels()
    shared = model.decoder.sample(known, levels=drawn, head=model.config.head)
    apart = model.decoder.sample(repeated(known, SAMPLES), levels=drawn.flatten(0, 1)[:, None], head=model.config.head)
    torch.testing.assert_close(shared.flatten(0, 1), apart[:, 0], atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_paths_with_covariates_that_share_a_memory_are_those_of_one_memory_a_path():
    model = told_model("autoregressive from a label")
    known, drawn = known_of(model, told_batch()), levels()
    shared = model.decoder.sample(known, levels=drawn, head=model.config.head)
    apart = model.decoder.sample(repeated(known, SAMPLES), levels=drawn.flatten(0, 1)[:, None], head=model.config.head)
    torch.testing.assert_close(shared.flatten(0, 1), apart[:, 0], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", AUTOREGRESSIVE)
@torch.inference_mode()
def test_every_step_of_a_path_is_drawn_given_the_path_before_it(kind):
    model, batch, drawn = make_model(kind), make_batch(), levels()
    known = known_of(model, batch)
    paths = model.decoder.sample(known, levels=drawn, head=model.config.head)
    for path in range(SAMPLES):  # taught with the path itself: the whole prefix, no cache
        told = Target(paths[:, path], torch.ones_like(paths[:, path], dtype=torch.bool))
        parameters = model.decoder.teach(known, told)
        expected = model.config.head.sample(parameters, drawn[:, path])
        torch.testing.assert_close(paths[:, path], expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", ["autoregressive", "student_t", "differences", "log1p"])
def test_quantiles_of_many_paths_of_one_patch_are_those_of_the_head(kind):
    decoder = {"kind": "autoregressive", "patch_length": HORIZON}
    model, batch = make_model(kind, decoder=decoder), make_batch()
    own, of_paths = run(model, batch, num_samples=None), run(model, batch, num_samples=4000)
    width = own.quantiles[..., -1] - own.quantiles[..., 0]
    assert (np.abs(of_paths.quantiles - own.quantiles) < 0.02 * width[..., None]).all()
    assert (np.abs(of_paths.mean - own.mean) < 0.02 * width).all()


def test_the_same_seed_gives_the_same_forecast_and_another_another():
    model, batch = make_model("autoregressive"), make_batch()
    first, again, other = (run(model, batch, seed=seed) for seed in (1, 1, 2))
    assert (first.quantiles == again.quantiles).all()
    assert not np.allclose(first.quantiles, other.quantiles)


def test_shorter_horizon_is_the_beginning_of_a_longer_one_of_paths():
    model, batch = make_model("autoregressive"), make_batch()
    long = run(model, batch, horizon=2 * HORIZON + 3)
    for horizon in (1, 5, HORIZON, HORIZON + 2):
        assert_close(run(model, batch, horizon=horizon).quantiles, long.quantiles[:, :horizon])


def test_paths_go_on_beyond_the_trained_horizon_each_from_its_own_past_and_what_is_known_ahead():
    model, batch = told_model("autoregressive"), told_batch(known=2 * HORIZON)
    row, ahead = batch.rows(slice(0, 1)), batch.covariates.steps.shape[1] - HORIZON
    both = draw_levels([0], seed=0, num_paths=1, horizon=2 * HORIZON)
    whole = run(model, row, horizon=2 * HORIZON, num_samples=1).mean
    moved = replace(
        row,
        past=torch.cat([row.past, torch.from_numpy(whole[:, :HORIZON])], dim=1)[:, -CONTEXT:],
        past_observed=torch.cat([row.past_observed, torch.ones(1, HORIZON, dtype=torch.bool)], dim=1)[:, -CONTEXT:],
        covariates=replace(
            row.covariates,
            steps=row.covariates.steps[:, -ahead:],
            steps_observed=row.covariates.steps_observed[:, -ahead:],
        ),
    )
    window = look(model, moved)
    second = model.decoder.sample(model.know(window.given), levels=both[..., HORIZON:], head=model.config.head)
    assert_close(whole[:, HORIZON:], window.units.restore(second[:, 0]).detach().numpy())


def test_intervals_beyond_the_trained_horizon_hold_what_was_not_known_of_the_steps_before():
    """A model that says "the newest value, give or take": true of a random walk, one step at a time."""
    plain = {"context_length": 300, "horizon": 1, "patch_length": 10, "scaling": {"kind": "newest_std"}}
    model = ForecastModel(build_config(ModelConfig, plain | {"layer": {"d_model": 8, "num_heads": 2}})).eval()
    for tensor in model.decoder.output.parameters():
        torch.nn.init.zeros_(tensor)
    walk = torch.randn(1, 300, generator=torch.Generator().manual_seed(2), dtype=torch.float64).cumsum(dim=1)
    observed = torch.ones_like(walk, dtype=torch.bool)
    asked = {"horizon": 16, "quantile_levels": (0.1, 0.9)}
    fed_medians = model.forecast(walk, observed, **asked).quantiles[0]
    of_paths = model.forecast(walk, observed, num_samples=800, **asked).quantiles[0]
    narrow, wide = (quantiles[:, 1] - quantiles[:, 0] for quantiles in (fed_medians, of_paths))
    np.testing.assert_allclose(narrow / narrow[0], np.ones(16), atol=0.05)
    np.testing.assert_allclose(wide / wide[0], np.sqrt(np.arange(1, 17)), rtol=0.15)


def test_constant_past_gives_exactly_that_constant_on_every_path():
    model, past = make_model("autoregressive"), torch.full((2, CONTEXT), 0.1, dtype=torch.float64)
    forecast = model.forecast(past, torch.ones_like(past, dtype=torch.bool), horizon=2 * HORIZON, num_samples=9)
    assert (forecast.mean == 0.1).all()
    assert (forecast.quantiles == 0.1).all()


def test_point_model_refuses_sample_paths():
    with pytest.raises(QuantilesUnavailable, match=r"sample paths.*head 'quantile'"):
        run(make_model("mse"), make_batch(), quantile_levels=())
