"""Failures as problem details (RFC 9457): what was wrong, where in the request, and never the values sent."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException

from forecast.errors import (
    ArtifactError,
    BackendUnavailable,
    ConfigError,
    ContextTooLong,
    DataError,
    LongcastError,
    ModelNotFound,
    QuantilesUnavailable,
    RegistryError,
)

MEDIA_TYPE = "application/problem+json"

MAX_FAULTS = 20
"""Faults told in one answer: enough to mend a request, few enough to read."""

MAX_POINTER = 200
"""Characters of a pointer: it can hold a key, and keys are as long as the caller likes."""

RETRY_S = 5
"""Seconds after which a client does well to try an unready service again."""

STATUS_OF: dict[type[LongcastError], tuple[int, str]] = {
    ModelNotFound: (404, "unknown_model"),
    ConfigError: (422, "invalid_request"),
    ContextTooLong: (422, "context_too_long"),
    QuantilesUnavailable: (422, "quantiles_unavailable"),
    DataError: (422, "invalid_series"),
    ArtifactError: (503, "model_unusable"),
    BackendUnavailable: (503, "model_unusable"),
    RegistryError: (503, "registry_unavailable"),
}
"""The status and code of each error of the library that a request can meet; a class before the one it derives from."""


class Fault(BaseModel):
    """One thing that is wrong with a request."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    pointer: str
    """JSON pointer (RFC 6901) into the body; empty for the body as a whole."""

    code: str
    message: str

    series: str | None = None
    """The series at fault, where it is one."""

    field: str | None = None
    """The field of the body at fault, where it is one."""


class Problem(BaseModel):
    """What went wrong, as RFC 9457 writes it."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    type: str
    """`urn:longcast:problem:` and a code that does not change."""

    title: str
    status: int
    detail: str
    instance: str
    """The path asked for."""

    errors: list[Fault] = []
    """The faults found, at most 20 of them."""

    request_id: str
    """Also in the header X-Request-Id and in the service's log."""


class Refused(LongcastError):
    """A request that the service does not answer as asked."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        faults: Sequence[Fault] = (),
        headers: Mapping[str, str] | None = None,
    ):
        super().__init__(message)
        self.status = status
        self.code = code
        self.faults = faults
        self.headers = headers


def invalid(pointer: str, code: str, message: str) -> Refused:
    """Refuse a request for one fault in its body."""
    return Refused(message, status=422, code="invalid_request", faults=[fault_at(pointer, code, message)])


def fault_at(pointer: str, code: str, message: str, *, series: str | None = None) -> Fault:
    """Describe a fault; its field is the last name on the way that the pointer takes."""
    names = [step for step in pointer.split("/")[1:] if not step.isdecimal()]
    field = names[-1][:MAX_POINTER] if names else None
    return Fault(pointer=pointer[:MAX_POINTER], code=code, message=message, series=series, field=field)


def pointer_to(place: str, *steps: str | int) -> str:
    """Give the JSON pointer to what lies further inside a place."""
    return place + "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def install_handlers(app: FastAPI) -> None:
    """Answer every failure of a request with a problem."""
    app.add_exception_handler(LongcastError, _longcast_error)
    app.add_exception_handler(HTTPException, _http_exception)
    app.add_exception_handler(RequestValidationError, _validation_error)


def problem_response(request: Request, refused: Refused) -> Response:
    """Write a refusal as a problem."""
    problem = Problem(
        type=f"urn:longcast:problem:{refused.code}",
        title=refused.code.replace("_", " ").capitalize(),
        status=refused.status,
        detail=str(refused),
        instance=request.url.path,
        errors=list(refused.faults[:MAX_FAULTS]),
        request_id=request.state.request_id,
    )
    body = orjson.dumps(problem.model_dump())
    return Response(body, status_code=refused.status, headers=refused.headers, media_type=MEDIA_TYPE)


def unexpected() -> Refused:
    """Give the answer to what should not have happened; what it was stands in the log."""
    return Refused(
        "the service failed at this request; the fault is its own, and its log has it under the request's id",
        status=500,
        code="internal_error",
    )


async def _longcast_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, LongcastError)
    return problem_response(request, error if isinstance(error, Refused) else _refusal_of(error))


def _refusal_of(error: LongcastError) -> Refused:
    known = next((known for kind, known in STATUS_OF.items() if isinstance(error, kind)), None)
    if known is None:
        return unexpected()
    status, code = known
    headers = {"Retry-After": str(RETRY_S)} if status == 503 else None
    return Refused(str(error), status=status, code=code, headers=headers)


async def _http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    code = status.name.lower()
    detail = status.description or status.phrase
    return problem_response(request, Refused(detail, status=status, code=code, headers=error.headers))


async def _validation_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    faults = [described(problem, series=None) for problem in error.errors()[:MAX_FAULTS]]
    detail = "the request does not fit; see errors"
    return problem_response(request, Refused(detail, status=422, code="invalid_request", faults=faults))


def described(problem: Mapping[str, Any], *, series: str | None) -> Fault:
    """Describe a fault that pydantic found, without the value it found it in."""
    pointer = pointer_to("", *problem["loc"])
    if problem["type"] == "extra_forbidden":
        return fault_at(pointer, "unknown_key", "unknown key; remove it or correct its spelling", series=series)
    return fault_at(pointer, problem["type"], problem["msg"].removeprefix("Value error, "), series=series)
