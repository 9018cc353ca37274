"""Alive from the first moment; ready once the model is; and until then it says why not, and tries again."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from api.settings import Settings
from forecast.artifact import WEIGHTS_FILE

HASTY: dict[str, Any] = {"first_retry_s": 0.05, "longest_retry_s": 1}
Start = Callable[[Settings], Any]


def reason(service: Any, word: str) -> str:
    """Wait until the service says a word of why it is not ready."""
    deadline = time.monotonic() + 20
    while word not in (detail := service.get("/readyz").json()["detail"]):
        assert time.monotonic() < deadline, detail
        time.sleep(0.02)
    return detail


def test_a_ready_service_says_so(service) -> None:
    assert service.get("/readyz").json() == {"status": "ready"}
    assert service.get("/livez").json() == {"status": "alive"}


def test_the_version_of_everything_that_decides_a_forecast_is_told(service) -> None:
    told = service.get("/version").json()

    assert set(told) == {"longcast", "git_sha", "python", "torch"}
    assert told["longcast"] == service.get("/openapi.json").json()["info"]["version"]


def test_a_service_without_its_model_lives_and_says_what_it_lacks(
    start_service: Start, tmp_path: Path, artifact: Path, request_body: Any
) -> None:
    service = start_service(Settings(artifact=tmp_path / "later", **HASTY))
    assert "no artifact at" in reason(service, "later")
    assert service.get("/livez").status_code == 200
    refused = service.forecast(request_body)
    assert refused.status_code == 503
    assert refused.json()["type"] == "urn:longcast:problem:not_ready"
    assert int(refused.headers["Retry-After"]) > 0
    assert refused.headers["X-Model-Version"] == "none"

    shutil.copytree(artifact, tmp_path / "later")

    assert service.wait_until_ready().forecast(request_body).status_code == 200


def test_an_altered_model_never_answers(start_service: Start, tmp_path: Path, artifact: Path) -> None:
    shutil.copytree(artifact, tmp_path / "altered")
    weights = tmp_path / "altered" / WEIGHTS_FILE
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)

    service = start_service(Settings(artifact=tmp_path / "altered", **HASTY))

    assert "altered" in reason(service, "sha256")


@pytest.mark.parametrize("card", [b"", b"{", b"[]", b'{"weights": 1}'])
def test_a_folder_that_holds_no_model_is_told(start_service: Start, tmp_path: Path, card: bytes) -> None:
    (tmp_path / "artifact.json").write_bytes(card)

    service = start_service(Settings(artifact=tmp_path, **HASTY))

    assert "artifact.json" in reason(service, "artifact.json")


def test_a_registry_that_is_not_there_is_told_and_waited_for(start_service: Start, tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path / 'absent.db'}"

    service = start_service(Settings(tracking_uri=uri, **HASTY))

    assert "absent.db" in reason(service, "absent.db")
    assert service.get("/v1/models").status_code == 503


def test_a_device_that_is_not_here_is_told(start_service: Start, artifact: Path) -> None:
    service = start_service(Settings(artifact=artifact, device="abacus", **HASTY))

    assert "abacus" in reason(service, "abacus")
