"""The body of a request: its type, its size, its JSON, and the faults in it, told by pointer."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import Request
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json
from starlette.concurrency import run_in_threadpool

from api.errors import MAX_FAULTS, Refused, described
from api.schemas import ForecastRequest

MOST_FAULTS_LISTED = 1_000
"""Above it they are counted only: a body can hold millions, and listing them would keep everybody waiting."""

ADAPTER = TypeAdapter(ForecastRequest)


async def forecast_request(request: Request) -> ForecastRequest:
    """Read a forecast request, off the event loop.

    Raises:
        Refused: 413 too large, 415 not JSON or coded, 400 broken JSON, 422 JSON that is no forecast request.
    """
    _check_headers(request.headers)
    body = await request.body()
    return await run_in_threadpool(parse, body)


def _check_headers(headers: Mapping[str, str]) -> None:
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise Refused("send JSON, as Content-Type: application/json", status=415, code="unsupported_media_type")
    if headers.get("content-encoding", "identity").strip().lower() != "identity":
        raise Refused("send the body as it is, without Content-Encoding", status=415, code="unsupported_encoding")


def parse(body: bytes) -> ForecastRequest:
    """Parse and validate a body.

    Raises:
        Refused: 400 broken JSON, 422 JSON that is no forecast request.
    """
    try:
        return ADAPTER.validate_json(body)
    except ValidationError as failure:
        raise _refusal(failure, body) from None


def _refusal(failure: ValidationError, body: bytes) -> Refused:
    count = failure.error_count()
    if count > MOST_FAULTS_LISTED:
        detail = f"the body has {count:,} faults, most of them unknown keys; see the schema at /docs"
        return Refused(detail, status=422, code="invalid_request")
    problems = failure.errors(include_url=False, include_input=False, include_context=False)
    if problems[0]["type"] == "json_invalid":
        return Refused(f"{problems[0]['msg']}; send UTF-8 JSON", status=400, code="malformed_json")
    plain = from_json(body)
    faults = [described(problem, series=_series_at(plain, problem["loc"])) for problem in problems[:MAX_FAULTS]]
    told = "" if count <= MAX_FAULTS else f"; the first {MAX_FAULTS} of {count:,} are listed"
    return Refused(
        f"the body is no forecast request; see errors{told}", status=422, code="invalid_request", faults=faults
    )


def _series_at(plain: Any, path: Sequence[str | int]) -> str | None:
    """Name the series that a fault in a column lies in, where the rest of the body says which it is."""
    match path:
        case ("series", "y", int(place)) | ("series", "y" | "past", str(), int(place)):
            return _id_of(plain["series"], _owner(place, plain["series"].get("sizes")))
        case ("series", str(), int(place)) | ("series", "static", str(), int(place)):
            return _id_of(plain["series"], place)
        case ("future", str(), int(place)) if _is_count(horizon := plain.get("horizon")):
            return _id_of(plain.get("series"), place // horizon)
    return None


def _is_count(number: Any) -> bool:
    return isinstance(number, int) and number > 0


def _id_of(series: Any, number: int | None) -> str | None:
    ids = series.get("unique_id") if isinstance(series, dict) else None
    found = ids[number] if isinstance(ids, list) and number is not None and number < len(ids) else None
    return found if isinstance(found, str) else None


def _owner(place: int, sizes: Any) -> int | None:
    """Give the number of the series that a value belongs to; None where the sizes do not say."""
    for number, size in enumerate(sizes if isinstance(sizes, list) else []):
        if not isinstance(size, int):
            return None
        place -= size
        if place < 0:
            return number
    return None
