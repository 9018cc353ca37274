"""A model compiled for this processor: the same forecasts of single windows, made once, and never of other windows."""

import numpy as np
import pytest
import torch

from forecast.artifact import Artifact
from forecast.compiled import compile_artifact
from forecast.errors import BackendUnavailable
from tests.forecast.model.kinds import make_batch
from tests.tiny_model import CONTEXT_LENGTH as CONTEXT
from tests.tiny_model import HORIZON, tiny_artifact


def same_artifact() -> Artifact:
    torch.manual_seed(4)
    return tiny_artifact()


def windows(size: int = 3, *, context: int = CONTEXT):
    return make_batch(size, context=context)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture(scope="module")
def artifact(folder) -> Artifact:
    artifact = same_artifact()
    compile_artifact(artifact, folder=folder)
    return artifact


@pytest.fixture
def runs(artifact, monkeypatch) -> list[int]:
    """Counts what the package runs."""
    package, counted = artifact.model.package, []
    run = package.run
    monkeypatch.setattr(package, "run", lambda given: counted.append(1) or run(given))
    return counted


def both(artifact, batch, **asked):
    asked = {"horizon": HORIZON, **asked}
    compiled = artifact.model.forecast(batch.past, batch.past_observed, **asked)
    package, artifact.model.package = artifact.model.package, None
    try:
        return compiled, artifact.model.forecast(batch.past, batch.past_observed, **asked)
    finally:
        artifact.model.package = package


@pytest.mark.parametrize("horizon", [1, HORIZON, 2 * HORIZON + 3])
@pytest.mark.parametrize("row", [0, 1])
def test_single_windows_have_the_same_forecast(artifact, runs, horizon, row):
    compiled, own = both(artifact, windows().rows(slice(row, row + 1)), horizon=horizon)
    assert len(runs) == -(-horizon // HORIZON)
    np.testing.assert_allclose(compiled.mean, own.mean, rtol=1e-6)
    np.testing.assert_allclose(compiled.quantiles, own.quantiles, rtol=1e-6)


def test_several_windows_and_other_contexts_run_as_ever(artifact, runs):
    batch = windows()
    for part in (batch, windows(1, context=CONTEXT + 4), windows(1, context=CONTEXT - 4)):
        compiled, own = both(artifact, part)
        np.testing.assert_array_equal(compiled.mean, own.mean)
    assert not runs


def test_a_gap_as_long_as_a_token_runs_as_ever_because_it_has_to_be_hidden(artifact, runs):
    batch = windows(1)
    batch.past_observed[:, 2:14] = False
    compiled, own = both(artifact, batch)
    np.testing.assert_array_equal(compiled.mean, own.mean)
    assert not runs


def test_what_is_compiled_is_found_again_for_the_same_weights_only(artifact, folder, monkeypatch):
    again = same_artifact()
    monkeypatch.setattr("torch._inductor.aoti_compile_and_package", None)  # whoever compiles fails
    assert compile_artifact(again, folder=folder).parent == folder
    with torch.no_grad():
        again.model.decoder.output.projection.bias[0] += 1
    with pytest.raises(TypeError):
        compile_artifact(again, folder=folder)


def test_without_a_compiler_the_error_says_what_to_install(tmp_path):
    torch._inductor.cpp_builder.cpp_compiler_search.cache_clear()
    again = same_artifact()
    without = torch._inductor.config.patch({"cpp.cxx": (None, str(tmp_path / "none"))})
    with without, pytest.raises(BackendUnavailable, match=r"install g\+\+"):
        compile_artifact(again, folder=tmp_path)
    assert again.model.package is None
    assert not list(tmp_path.iterdir())
