"""Too much, unknown models, paths and methods that are not there, failures: each is a problem that tells no value."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
import pytest
from structlog.testing import capture_logs

from api.errors import MAX_FAULTS
from api.settings import Settings
from tests.api.asking import SECRET, Body, changed, problem

# ---- Too much


def test_a_body_of_a_told_length_beyond_the_limit_is_refused_unread(service) -> None:
    found = problem(service.forecast(b" " * 200_001), 413)

    assert "200,000" in found.detail


def test_a_body_of_an_untold_length_is_refused_where_it_passes_the_limit(service) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 50_000
            yield b" " * 50_000

    answer = service.ask("POST", "/v1/forecasts", content=endless(), headers={"Content-Type": "application/json"})

    problem(answer, 413)
    assert sent <= 300_000


def test_a_body_at_the_limit_is_read(service, request_body: Body) -> None:
    body = orjson.dumps(request_body)

    assert service.forecast(body + b" " * (200_000 - len(body))).status_code == 200


def test_no_more_than_twenty_faults_are_listed(service, request_body: Body) -> None:
    body = request_body | {f"key{number}": SECRET for number in range(500)}

    found = problem(service.forecast(body), 422)

    assert len(found.errors) == MAX_FAULTS
    assert "500" in found.detail


def test_thousands_of_faults_are_counted_only(service, request_body: Body) -> None:
    body = request_body | {f"key{number}": 1 for number in range(5_000)}

    found = problem(service.forecast(body), 422)

    assert found.errors == []
    assert "5,000" in found.detail


def test_a_list_stops_at_its_first_fault(service, request_body: Body) -> None:
    body = changed(request_body, "series.y", ["a"] * 4_000)

    answer = service.forecast(body)

    assert len(problem(answer, 422).errors) == 1
    assert len(answer.content) < 1_000


def test_a_key_as_long_as_the_body_is_not_sent_back(service, request_body: Body) -> None:
    answer = service.forecast(request_body | {"k" * 50_000: 1})

    problem(answer, 422)
    assert len(answer.content) < 2_000


def test_no_more_numbers_are_answered_than_the_limit(start_service: Callable[..., Any], artifact, request_body) -> None:
    service = start_service(Settings(artifact=artifact, max_answer_values=23)).wait_until_ready()

    assert problem(service.forecast(request_body), 422).errors[0].pointer == "/horizon"  # 2 series x 3 steps x 4 = 24
    assert service.forecast(request_body | {"quantiles": [0.5]}).status_code == 200


# ---- Models that are not there


@pytest.mark.parametrize(
    "name", ["nobody", "tiny@champion", "tiny/999", "tiny/", "../tiny", "tiny%00", "名前", "@", "/"]
)
def test_an_unknown_model_is_not_found(service, request_body: Body, name: str) -> None:
    found = problem(service.forecast(request_body | {"model": name}), 404)

    assert found.type == "urn:longcast:problem:unknown_model"


def test_levels_asked_of_a_model_of_points_are_refused(start_service, point_artifact, request_body: Body) -> None:
    service = start_service(Settings(artifact=point_artifact)).wait_until_ready()

    (fault,) = problem(service.forecast(request_body), 422).errors

    assert (fault.pointer, fault.code) == ("/quantiles", "quantiles_unavailable")


# ---- Paths and methods


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v2/forecasts", "/v1/forecasts/", "/docs/assets/../../settings.py", "/%00"]
)
def test_a_path_that_is_not_there_is_a_problem(service, path: str) -> None:
    assert problem(service.get(path), 404).instance.startswith("/")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/forecasts", "POST"),
        ("POST", "/livez", "GET"),
        ("DELETE", "/v1/models", "GET"),
        ("PATCH", "/docs", "GET"),
    ],
)
def test_a_method_that_is_not_there_is_a_problem_and_says_which_is(
    service, method: str, path: str, allowed: str
) -> None:
    answer = service.ask(method, path)

    problem(answer, 405)
    assert allowed in answer.headers["Allow"]


def test_head_answers_as_get_without_the_body(service) -> None:
    head, get = service.ask("HEAD", "/v1/models"), service.get("/v1/models")

    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["Content-Length"] == get.headers["Content-Length"]
    assert service.ask("HEAD", "/nowhere").status_code == 404


# ---- What should not happen


def test_a_failure_of_the_service_itself_is_a_problem_without_its_words(start_service, artifact) -> None:
    async def broken() -> None:
        raise ValueError(SECRET)

    service = start_service(Settings(artifact=artifact))
    service.app.add_api_route("/broken", broken)

    with capture_logs() as lines:
        found = problem(service.get("/broken"), 500)

    assert found.type == "urn:longcast:problem:internal_error"
    assert "unexpected failure" in [line["event"] for line in lines]
    assert service.get("/livez").status_code == 200
