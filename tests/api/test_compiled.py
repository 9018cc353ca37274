"""A service that compiles its model: the same answer to a single series, and by the compiled code."""

import pytest

from api.settings import Settings
from forecast.artifact import load_artifact
from forecast.compiled import compile_artifact
from tests.api.asking import columns, of_one


def test_a_service_asked_to_compile_answers_a_single_series_by_it_and_alike(
    artifact, start_service, tmp_path_factory, monkeypatch
):
    monkeypatch.setenv("LONGCAST_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
    compile_artifact(
        load_artifact(artifact)
    )  # here, because a busy machine may take longer than services are waited for
    own = start_service(Settings(artifact=artifact)).wait_until_ready()
    compiled = start_service(Settings(artifact=artifact, compiled=True)).wait_until_ready()
    package = compiled.app.state.serving.default.predictor.artifact.model.package
    assert own.app.state.serving.default.predictor.artifact.model.package is None
    runs, run = [], package.run
    monkeypatch.setattr(package, "run", lambda given: runs.append(1) or run(given))
    expected, found = (columns(service.forecast(of_one("2026-01-01"))) for service in (own, compiled))
    assert found["mean"] == pytest.approx(expected["mean"], rel=1e-6)
    assert runs
