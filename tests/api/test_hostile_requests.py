"""Bodies that no client should send: each has its status, its code and its pointer."""

from typing import Any

import orjson
import pytest

from tests.api.asking import Body, changed, problem

# ---- JSON that is no forecast request: the place changed, the value, and where and how the fault is told

INVALID = [
    ("horizon", 0, "/horizon", "greater_than"),
    ("horizon", -5, "/horizon", "greater_than"),
    ("horizon", 2.5, "/horizon", "int_type"),
    ("horizon", "3", "/horizon", "int_type"),
    ("horizon", True, "/horizon", "int_type"),
    ("horizon", 501, "/horizon", "too_many"),
    ("horizon", 10**30, "/horizon", "too_many"),
    ("freq", "fortnight", "/freq", "unknown_frequency"),
    ("freq", "", "/freq", "string_pattern_mismatch"),
    ("freq", "0h", "/freq", "unknown_frequency"),
    ("freq", "999999999h", "/freq", "string_pattern_mismatch"),
    ("freq", 60, "/freq", "string_type"),
    ("freq", "B[XX]", "/freq", "unknown_frequency"),
    ("freq", "B[DE", "/freq", "string_pattern_mismatch"),
    ("freq", "B[$(reboot)]", "/freq", "string_pattern_mismatch"),
    ("freq", "3", "/freq", "wrong_frequency"),
    ("zone", "Mars/Olympus", "/zone", "unknown_zone"),
    ("zone", "../../etc/passwd", "/zone", "unknown_zone"),
    ("zone", "", "/zone", "string_too_short"),
    ("quantiles", [], "/quantiles", "too_short"),
    ("quantiles", [0.5, 1], "/quantiles/1", "less_than"),
    ("quantiles", [0], "/quantiles/0", "greater_than"),
    ("quantiles", 0.5, "/quantiles", "list_type"),
    ("quantiles", [0.5] * 100, "/quantiles", "too_long"),
    ("level", [80], "/level", "level_and_quantiles"),
    ("level", [100], "/level/0", "less_than"),
    ("model", 7, "/model", "string_type"),
    ("model", "", "/model", "string_too_short"),
    ("horizons", 3, "/horizons", "unknown_key"),
    ("a/b~c", 3, "/a~1b~0c", "unknown_key"),
    ("series", None, "/series", "model_type"),
    ("series", [], "/series", "model_type"),
    ("series.unique_id", [], "/series/unique_id", "too_short"),
    ("series.unique_id", "north", "/series/unique_id", "list_type"),
    ("series.unique_id", ["north", 7], "/series/unique_id/1", "string_type"),
    ("series.unique_id", ["north", None], "/series/unique_id/1", "string_type"),
    ("series.unique_id", ["north", "north"], "/series/unique_id/1", "duplicate_id"),
    ("series.unique_id", ["n" * 600, "south"], "/series/unique_id/0", "string_too_long"),
    ("series.unique_id", ["north"], "/series/sizes", "length_mismatch"),
    ("series.unique_id", [f"{number}" for number in range(51)], "/series/unique_id", "too_many"),
    ("series.sizes", [4, 4], "/series/sizes", "length_mismatch"),
    ("series.sizes", [8, -1], "/series/sizes/1", "greater_than_equal"),
    ("series.sizes", [4, 3.0], "/series/sizes/1", "int_type"),
    ("series.sizes", [4, "3"], "/series/sizes/1", "int_type"),
    ("series.sizes", [10**30, 3], "/series/sizes", "length_mismatch"),
    ("series.start", ["2026-11-01"], "/series/start", "length_mismatch"),
    ("series.start", ["2026-11-01T00:00:00Z", "2026-11-01"], "/series/start", "mixed_offsets"),
    ("series.start", ["2026-11-01", 5], "/series/start", "mixed_starts"),
    ("series.start", ["2026-11-01", None], "/series/start/1", "start_type"),
    ("series.start", ["2026-11-01", True], "/series/start/1", "start_type"),
    ("series.start", ["2026-11-01", 1.5], "/series/start/1", "start_type"),
    ("series.start", [1, 2], "/freq", "wrong_frequency"),
    ("series.start", ["1", "2"], "/series/start/0", "start_format"),
    ("series.start", ["\uff12026-11-01", "2026-11-01\n"], "/series/start/0", "start_format"),
    ("series.y", [[1.0], 2.0], "/series/y/0", "float_type"),
    ("series.y", [1.0, "2.0"], "/series/y/1", "float_type"),
    ("series.y", [1.0, False], "/series/y/1", "float_type"),
    ("series.y", 1.0, "/series/y", "list_type"),
    ("series.y", {"y": 1.0}, "/series/y/y", "list_type"),
    ("series.y", {"y": [1.0] * 6 + ["7"]}, "/series/y/y/6", "float_type"),
    ("series.y", {"y": [1.0] * 7}, "/series/y", "one_target"),
    ("series.past", [], "/series/past", "dict_type"),
    ("series.past", None, "/series/past", "dict_type"),
    ("series.past", {"price": 1.0}, "/series/past/price", "list_type"),
    ("series.past", {"a/b~c": [1, "2"]}, "/series/past/a~1b~0c/1", "mixed_types"),
    ("series.past", {"price": [1, 2.5, None, True]}, "/series/past/price/3", "mixed_types"),
    ("series.past", {"price": [False, 1]}, "/series/past/price/1", "mixed_types"),
    ("series.past", {"price": [None, "low", 1.5]}, "/series/past/price/2", "mixed_types"),
    ("series.past", {"price": [1.0, [2.0]]}, "/series/past/price/1", "cell_type"),
    ("series.past", {"price": [{"value": 1.0}]}, "/series/past/price/0", "cell_type"),
    ("series.past", {f"c{number}": [] for number in range(501)}, "/series/past", "too_many"),
    ("series.past", {"price": [0] * 5_000}, "/series/past", "too_many"),
    ("series.static", {"region": [1, "west"]}, "/series/static/region/1", "mixed_types"),
    ("series.static", {"region": ["west"] * 5_000}, "/series/static", "too_many"),
    ("series.future", {}, "/series/future", "unknown_key"),
    ("future", [], "/future", "dict_type"),
    ("future", {"price": "high"}, "/future/price", "list_type"),
    ("future", {"price": [1, True]}, "/future/price/1", "mixed_types"),
    ("future", {"price": [1.5] * 5_000}, "/future", "too_many"),
    ("series.y", [0.0] * 5_001, "/series/y", "too_many"),
]


@pytest.mark.parametrize(("place", "value", "pointer", "code"), INVALID)
def test_what_is_no_request_is_refused_by_pointer(
    service, request_body: Body, place: str, value: Any, pointer: str, code: str
) -> None:
    body = (
        orjson.dumps(changed(request_body, place, value))
        if not _is_long(value)
        else _as_json(request_body, place, value)
    )

    found = problem(service.forecast(body), 422)

    assert (found.errors[0].pointer, found.errors[0].code) == (pointer, code)


def _is_long(value: Any) -> bool:
    return any(isinstance(item, int) and item > 2**63 for item in (value if isinstance(value, list) else [value]))


def _as_json(body: Body, place: str, value: Any) -> bytes:
    """Write integers that orjson refuses."""
    import json

    return json.dumps(changed(body, place, value)).encode()


@pytest.mark.parametrize("key", ["series", "series.unique_id", "series.sizes", "series.start", "series.y"])
def test_what_is_missing_is_named(service, request_body: Body, key: str) -> None:
    *parents, last = key.split(".")
    del (request_body[parents[0]] if parents else request_body)[last]

    (fault,) = problem(service.forecast(request_body), 422).errors

    assert (fault.pointer, fault.code, fault.field) == ("/" + key.replace(".", "/"), "missing", last)


# ---- Bytes that are no JSON, or JSON that other readers take

TOKENS = [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999", b"1" + b"0" * 400]


@pytest.mark.parametrize("token", TOKENS)
def test_numbers_that_are_not_finite_are_refused_in_their_series(service, request_body: Body, token: bytes) -> None:
    body = orjson.dumps(request_body).replace(b"12.5,", token + b",")

    (fault,) = problem(service.forecast(body), 422).errors

    assert (fault.pointer, fault.code) == ("/series/y/5", "finite_number")
    assert (fault.series, fault.field) == ("south", "y")


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize(
    ("place", "cells", "pointer", "series"),
    [
        ("series.past", [1.0, 1.0, 1.0, 1.0, 12.625], "/series/past/price/4", "south"),
        ("series.static", [1.0, 12.625], "/series/static/price/1", "south"),
        ("future", [None, 1.0, 12.625], "/future/price/2", "north"),
        ("future", [1, 1, 1, 12.625], "/future/price/3", "south"),
    ],
)
def test_covariates_that_are_not_finite_are_refused_in_their_series(
    service, request_body: Body, token: bytes, place: str, cells: list[Any], pointer: str, series: str
) -> None:
    body = orjson.dumps(changed(request_body, place, {"price": cells})).replace(b"12.625", token)

    (fault,) = problem(service.forecast(body), 422).errors

    assert (fault.pointer, fault.code, fault.series, fault.field) == (pointer, "finite_number", series, "price")


MALFORMED = {
    "empty": b"",
    "cut short": b'{"series": {"unique_id": ["a"',
    "binary": bytes(range(256)),
    "a Parquet file": b"PAR1\x15\x04\x15\x10PAR1",
    "not UTF-8": b'{"model": "\xff\xfe"}',
    "UTF-16": '{"horizon": 3}'.encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf{}",
    "a lone surrogate": rb'{"model": "\ud800"}',
    "a lone surrogate as a key": rb'{"\udfff": 1}',
    "two documents": b"{}{}",
    "single quotes": b"{'horizon': 3}",
    "a trailing comma": b'{"horizon": 3,}',
    "an unquoted NaN": b'{"horizon": nan}',
    "a bottomless list": b"[" * 100_000,
    "a bottomless object": b'{"a":' * 30_000,
    "a number of 6,000 digits": b'{"horizon": ' + b"1" * 6_000 + b"}",
}


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
def test_what_is_no_json_is_told_so(service, body: bytes) -> None:
    assert problem(service.forecast(body), 400).type == "urn:longcast:problem:malformed_json"


@pytest.mark.parametrize("body", [b"[]", b"3", b"null", b'"text"', b"true"])
def test_json_that_is_no_object_is_no_request(service, body: bytes) -> None:
    (fault,) = problem(service.forecast(body), 422).errors

    assert (fault.pointer, fault.field) == ("", None)


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Content-Type": "text/csv"}, "unsupported_media_type"),
        ({"Content-Type": "application/x-www-form-urlencoded"}, "unsupported_media_type"),
        ({"Content-Type": ""}, "unsupported_media_type"),
        ({"Content-Type": "multipart/form-data; boundary=x"}, "unsupported_media_type"),
        ({"Content-Encoding": "gzip"}, "unsupported_encoding"),
        ({"Content-Encoding": "br, identity"}, "unsupported_encoding"),
    ],
)
def test_other_forms_of_a_body_are_refused(service, request_body: Body, headers: dict[str, str], code: str) -> None:
    found = problem(service.forecast(request_body, headers=headers), 415)

    assert found.type == f"urn:longcast:problem:{code}"


def test_a_charset_beside_the_media_type_is_taken(service, request_body: Body) -> None:
    answer = service.forecast(request_body, headers={"Content-Type": "Application/JSON; charset=utf-8"})

    assert answer.status_code == 200
