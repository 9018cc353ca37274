"""The OpenAPI description is the one that clients were built on, and its page needs nothing from elsewhere."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from api.schemas import ForecastRequest


@pytest.fixture(scope="module")
def described(service) -> dict[str, Any]:
    return service.get("/openapi.json").json()


@pytest.mark.golden
def test_the_description_is_the_one_kept(
    described: dict[str, Any], repository: Path, pytestconfig: pytest.Config
) -> None:
    file = repository / "tests" / "golden" / "openapi.json"
    if pytestconfig.getoption("--write-golden"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")

    kept = json.loads(file.read_text(encoding="utf-8"))

    assert described == kept, "clients depend on it; if the change is meant: make golden, and say it in the CHANGELOG"


def test_every_reference_leads_somewhere(described: dict[str, Any]) -> None:
    references = set(re.findall(r'"#/components/schemas/(\w+)"', json.dumps(described)))

    assert references == set(described["components"]["schemas"])


def test_every_failure_is_described_as_a_problem(described: dict[str, Any]) -> None:
    for path, operations in described["paths"].items():
        for operation in operations.values():
            failures = {status: answer for status, answer in operation["responses"].items() if status != "200"}
            assert failures, path
            assert all(list(answer["content"]) == ["application/problem+json"] for answer in failures.values())


def test_the_examples_are_good_requests(service, described: dict[str, Any]) -> None:
    for example in described["components"]["schemas"]["ForecastRequest"]["examples"]:
        TypeAdapter(ForecastRequest).validate_json(json.dumps(example))
        assert service.forecast(example).status_code == 200


def test_the_page_and_its_assets_come_from_here_alone(service) -> None:
    page = service.get("/docs")

    assert page.headers["Content-Type"].startswith("text/html")
    assert not re.findall(r"(?:src|href)=\"(?:https?:)?//", page.text)
    assets = re.findall(r"(?:src|href)=\"([^\"]+)\"", page.text)
    assert len(assets) == 3
    assert all(service.get(asset).status_code == 200 for asset in assets)
