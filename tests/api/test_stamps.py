"""Stamps of forecasts go on where the history ends, written as the caller writes time."""

from pathlib import Path

import pytest

from api.settings import Settings
from tests.api.asking import Body, columns, of_one


@pytest.mark.parametrize(
    ("start", "freq", "expected"),
    [
        ("2026-11-01T00:00:00Z", "h", ["2026-11-02T16:00:00Z", "2026-11-02T17:00:00Z", "2026-11-02T18:00:00Z"]),
        ("2026-11-01T00:00:00", "h", ["2026-11-02T16:00:00", "2026-11-02T17:00:00", "2026-11-02T18:00:00"]),
        ("2026-11-01 00:00", "30min", ["2026-11-01T20:00:00", "2026-11-01T20:30:00", "2026-11-01T21:00:00"]),
        (
            "2026-11-01T00:30:00+05:30",
            "h",
            ["2026-11-02T16:30:00+05:30", "2026-11-02T17:30:00+05:30", "2026-11-02T18:30:00+05:30"],
        ),
        ("2026-11-01", "D", ["2026-12-11", "2026-12-12", "2026-12-13"]),
        ("2026-11-01T07:00:00-03:00", "D", [f"2026-12-{day}T07:00:00-03:00" for day in (11, 12, 13)]),
        ("2026-11-02", "W-MON", ["2027-08-09", "2027-08-16", "2027-08-23"]),
        ("2024-01-31", "ME", ["2027-05-31", "2027-06-30", "2027-07-31"]),
        ("2024-01-31", "1mo", ["2027-05-31", "2027-06-30", "2027-07-31"]),
        ("2026-01-01T00:00:00.250Z", "1h", [f"2026-01-02T{hour}:00:00.250Z" for hour in (16, 17, 18)]),
    ],
)
def test_stamps_come_back_as_they_were_written(service, start: str, freq: str, expected: list[str]) -> None:
    answer = columns(service.forecast(of_one(start, freq=freq)))

    assert answer["timestamps"] == expected
    assert answer["start"] == expected[:1]


def test_integers_are_steps(start_service, point_artifact: Path) -> None:
    service = start_service(Settings(artifact=point_artifact)).wait_until_ready()

    answer = service.forecast(of_one(100)).json()

    assert answer["series"]["timestamps"] == [180, 182, 184]
    assert answer["zone"] is None


def test_each_series_keeps_its_own_offset(service, request_body: Body) -> None:
    request_body["series"]["start"] = ["2026-11-01T00:00:00+01:00", "2026-11-01T00:00:00-08:00"]

    answer = service.forecast(request_body).json()

    assert [stamp[-6:] for stamp in answer["series"]["timestamps"]] == ["+01:00"] * 3 + ["-08:00"] * 3
    assert answer["zone"] is None


@pytest.mark.parametrize(
    ("start", "zone"), [("2026-11-01", "UTC"), ("2026-11-01T00:00:00Z", "UTC"), ("2026-11-01T00:00:00+01:00", "+01:00")]
)
def test_the_zone_of_the_stamps_is_told(service, start: str, zone: str) -> None:
    assert service.forecast(of_one(start)).json()["zone"] == zone


@pytest.mark.parametrize("start", ["2026-10-24T12:00:00+02:00", "2026-10-24T12:00:00", "2026-10-24T10:00:00Z"])
def test_hours_in_a_zone_go_through_the_change_of_its_clock(service, start: str) -> None:
    body = of_one(start, zone="Europe/Berlin", freq="h")
    body["series"] |= {"sizes": [14], "y": body["series"]["y"][:14]}

    answer = service.forecast(body).json()

    hours = ["2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T03:00:00+01:00"]
    assert answer["series"]["timestamps"] == hours
    assert answer["zone"] == "Europe/Berlin"


def test_days_in_a_zone_stay_at_their_local_hour(service) -> None:
    body = of_one("2026-09-14T06:00:00+02:00", zone="Europe/Berlin", freq="D")

    stamps = columns(service.forecast(body))["timestamps"]

    assert stamps == ["2026-10-24T06:00:00+02:00", "2026-10-25T06:00:00+01:00", "2026-10-26T06:00:00+01:00"]
