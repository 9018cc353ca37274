"""What tests of the service share: requests, the columns of a good answer, and what holds for every problem."""

from typing import Any

import httpx2
import numpy as np

from api.errors import MEDIA_TYPE, Problem

Body = dict[str, Any]

SECRET = "31.987654321"
"""A value that a request may hold and no answer may tell."""


def columns(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    return answer.json()["series"]


def of_one(start: str | int, **changed: Any) -> Body:
    """A request of one series of 40 steps."""
    values = [round(10 + np.sin(step / 3), 3) for step in range(40)]
    series = {"unique_id": ["only"], "sizes": [40], "start": [start], "y": values}
    return {"horizon": 3, "series": series, **changed}


def problem(answer: httpx2.Response, status: int) -> Problem:
    """Check what holds for every problem, and give it."""
    assert answer.status_code == status, answer.text
    assert answer.headers["Content-Type"] == MEDIA_TYPE
    found = Problem.model_validate_json(answer.content, strict=True)
    assert found.status == status
    assert found.request_id == answer.headers["X-Request-Id"]
    assert "X-Model-Version" in answer.headers
    assert SECRET not in answer.text
    return found


def changed(body: Body, place: str, value: Any) -> Body:
    """Set one place of a request, by its dotted path."""
    *parents, last = place.split(".")
    part = body
    for step in parents:
        part = part[step]
    part[last] = value
    return body
