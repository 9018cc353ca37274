"""Forecasts over HTTP are the library's, stamped as the caller writes time, and one bad series harms no other."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import orjson
import polars as pl
import pytest

from api.answer import write_answer
from api.catalog.base import Entry, Served
from api.errors import Refused
from api.question import make_ready
from api.schemas import ForecastAnswer, ForecastRequest
from api.settings import Settings
from forecast.frames.contract import DataContract
from forecast.predictor import Predictor

Body = dict[str, Any]


def columns(answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    return answer.json()["series"]


def of_one(start: str | int, **changed: Any) -> Body:
    """A request of one series of 40 steps."""
    values = [round(10 + np.sin(step / 3), 3) for step in range(40)]
    series = {"unique_id": ["only"], "sizes": [40], "start": [start], "y": values}
    return {"horizon": 3, "series": series, **changed}


def frame_of(body: Body) -> pl.DataFrame:
    """The rows that an hourly request stands for, as a long frame."""
    series, parts, first = body["series"], [], 0
    for name, size, start in zip(series["unique_id"], series["sizes"], series["start"], strict=True):
        begin = datetime.fromisoformat(start).replace(tzinfo=None)
        stamps = [begin + timedelta(hours=step) for step in range(size)]
        parts.append(pl.DataFrame({"unique_id": name, "ds": stamps, "y": series["y"][first : first + size]}))
        first += size
    return pl.concat(parts, how="vertical_relaxed")


# ---- The numbers


def test_a_forecast_over_http_is_the_librarys_to_the_last_digit(service, request_body: Body, artifact: Path) -> None:
    answer = columns(service.forecast(request_body))

    frame = Predictor.load(artifact).predict(frame_of(request_body), horizon=3, quantile_levels=[0.1, 0.5, 0.9])

    assert answer["unique_id"] == ["north", "south"]
    assert answer["sizes"] == [3, 3]
    assert answer["mean"] == frame["mean"].to_list()
    assert list(answer["quantiles"]) == ["0.1", "0.5", "0.9"]
    assert all(answer["quantiles"][level] == frame[level].to_list() for level in ("0.1", "0.5", "0.9"))


def test_what_is_not_asked_for_is_as_the_model_was_trained(service, request_body: Body) -> None:
    for key in ("freq", "horizon", "quantiles"):
        del request_body[key]

    answer = service.forecast(request_body).json()

    assert answer["freq"] == "h"
    assert answer["horizon"] == 8
    assert len(answer["series"]["quantiles"]) == 11
    assert answer["notices"] == []


def test_a_level_is_the_same_request_as_its_quantiles(service, request_body: Body) -> None:
    del request_body["quantiles"]

    by_level = columns(service.forecast(request_body | {"level": [80]}))
    by_quantiles = columns(service.forecast(request_body | {"quantiles": [0.9, 0.1]}))

    assert by_level == by_quantiles
    assert list(by_level["quantiles"]) == ["0.1", "0.9"]


def test_close_levels_have_names_of_their_own(service, request_body: Body) -> None:
    answer = columns(service.forecast(request_body | {"quantiles": [0.995, 0.999, 1e-05]}))

    assert list(answer["quantiles"]) == ["0.00001", "0.995", "0.999"]


def test_a_model_of_points_answers_with_a_mean_alone(start_service, point_artifact: Path) -> None:
    service = start_service(Settings(artifact=point_artifact)).wait_until_ready()

    answer = columns(service.forecast(of_one(100)))

    assert len(answer["mean"]) == 3
    assert answer["quantiles"] == {}


def test_the_answer_keeps_to_its_schema(service, request_body: Body) -> None:
    request_body["series"]["start"][1] = "nonsense"

    ForecastAnswer.model_validate_json(service.forecast(request_body).content, strict=True, extra="forbid")


def test_whole_numbers_are_taken_as_numbers(service) -> None:
    whole, fractional = of_one("2026-01-01"), of_one("2026-01-01")
    whole["series"]["y"] = [step % 7 for step in range(40)]
    fractional["series"]["y"] = [float(step % 7) for step in range(40)]

    assert columns(service.forecast(whole)) == columns(service.forecast(fractional))


# ---- The stamps


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


def test_another_frequency_than_the_models_is_noticed(service) -> None:
    (notice,) = service.forecast(of_one("2026-01-01", freq="D")).json()["notices"]

    assert notice["code"] == "other_frequency"


# ---- One bad series


BAD_SERIES = [
    ("unreadable start", {"start": ["2026-11-01T00:00:00Z", "tomorrow"]}, "start_format", "/series/start/1"),
    ("month 13", {"start": ["2026-11-01T00:00:00Z", "2026-13-01T00:00:00Z"]}, "start_format", "/series/start/1"),
    ("year 1", {"start": ["2026-11-01T00:00:00Z", "0001-01-01T00:00:00Z"]}, "start_range", "/series/start/1"),
    ("no steps", {"sizes": [7, 0]}, "series_too_short", "/series/sizes/1"),
    ("nothing but gaps", {"y": [1, 2, 3, 4, None, None, None]}, "missing_values", "/series/y/4"),
]


@pytest.mark.parametrize(
    ("changed", "code", "pointer"), [row[1:] for row in BAD_SERIES], ids=[row[0] for row in BAD_SERIES]
)
def test_a_bad_series_is_named_and_the_others_are_forecast(
    service, request_body: Body, changed: Body, code: str, pointer: str
) -> None:
    alone = columns(service.forecast(request_body))
    request_body["series"] |= changed

    answer = service.forecast(request_body).json()

    assert answer["series"]["unique_id"] == ["north"]
    assert list(answer["errors"]) == ["south"]
    assert answer["errors"]["south"]["code"] == code
    assert answer["errors"]["south"]["pointer"] == pointer
    if "y" not in changed and "sizes" not in changed:
        assert answer["series"]["mean"] == pytest.approx(alone["mean"][:3], rel=1e-5)


def test_a_series_beside_the_steps_of_its_frequency_is_named(service, request_body: Body) -> None:
    request_body["freq"] = "W-MON"
    request_body["series"]["start"] = ["2026-11-02", "2026-11-03"]

    answer = service.forecast(request_body).json()

    assert answer["errors"]["south"]["pointer"] == "/series/start/1"
    assert answer["series"]["unique_id"] == ["north"]


def test_a_local_time_that_comes_twice_needs_its_offset(service, request_body: Body) -> None:
    request_body["zone"] = "Europe/Berlin"
    request_body["series"]["start"] = ["2026-10-25T01:00:00", "2026-10-25T02:00:00"]

    answer = service.forecast(request_body).json()

    assert answer["errors"]["south"]["code"] == "start_ambiguous"
    assert answer["series"]["unique_id"] == ["north"]


def test_a_forecast_beyond_the_calendar_is_refused_for_its_series(service, request_body: Body) -> None:
    request_body["freq"] = "99999YE"

    problem = service.forecast(request_body).json()

    assert problem["status"] == 422


def test_an_answer_without_one_usable_series_names_them_all(service, request_body: Body) -> None:
    request_body["series"]["y"] = [None] * 7

    problem = service.forecast(request_body).json()

    assert problem["status"] == 422
    assert [(fault["series"], fault["field"], fault["pointer"]) for fault in problem["errors"]] == [
        ("north", "y", "/series/y/0"),
        ("south", "y", "/series/y/4"),
    ]


def test_the_largest_numbers_have_a_finite_forecast(service, request_body: Body) -> None:
    request_body["series"]["y"][4:] = [1.7e308, -1.7e308, 1.7e308]

    answer = columns(service.forecast(request_body))

    assert answer["unique_id"] == ["north", "south"]
    assert np.isfinite(answer["mean"]).all()


def test_a_forecast_that_is_not_finite_is_told_and_never_sent(artifact: Path, request_body: Body) -> None:
    served = Served.load(Entry("tiny", "1"), artifact, device="cpu")
    asked = ForecastRequest.model_validate(request_body)
    question = make_ready(asked, served.predictor.card, limits=Settings())
    forecast = served.predictor.forecast(question.panel, request=question.asked)
    forecast.quantiles[1, 2, 0] = -np.inf

    answer = orjson.loads(write_answer(question, forecast, served))

    assert answer["series"]["unique_id"] == ["north"]
    assert answer["errors"]["south"]["code"] == "not_finite"
    forecast.mean[0, 0] = np.nan
    with pytest.raises(Refused, match="every series"):
        write_answer(question, forecast, served)


def test_warnings_stand_with_their_series(service, request_body: Body) -> None:
    request_body["series"]["y"][4:] = [5, 5, 5]

    warnings = service.forecast(request_body).json()["warnings"]

    assert [warned["code"] for warned in warnings["north"]] == ["missing"]
    assert [warned["code"] for warned in warnings["south"]] == ["constant"]


# ---- The service


def test_every_answer_names_its_request_and_its_model(service, request_body: Body) -> None:
    answer = service.forecast(request_body)

    model = answer.json()["model"]
    assert answer.headers["X-Model-Version"] == f"{model['name']}/{model['version']}"
    assert len(answer.headers["X-Request-Id"]) == 32
    assert service.forecast(request_body).headers["X-Request-Id"] != answer.headers["X-Request-Id"]


def test_a_request_may_bring_its_own_id(service, request_body: Body) -> None:
    taken = service.forecast(request_body, headers={"X-Request-Id": "job-7.42"})
    refused = service.forecast(request_body, headers={"X-Request-Id": 'x" injected'})

    assert taken.headers["X-Request-Id"] == "job-7.42"
    assert len(refused.headers["X-Request-Id"]) == 32


def test_the_service_answers_others_while_it_forecasts(service) -> None:
    body = of_one("2026-01-01", horizon=60)

    async def race() -> tuple[float, float]:
        ends: dict[str, float] = {}

        async def long_forecast() -> None:
            answer = await service._client.post("/v1/forecasts", json=body)
            assert answer.status_code == 200
            ends["forecast"] = time.perf_counter()

        async with anyio.create_task_group() as group:
            group.start_soon(long_forecast)
            await anyio.sleep(0.02)
            await service._client.get("/livez")
            ends["livez"] = time.perf_counter()
        return ends["livez"], ends["forecast"]

    livez, forecast = service.call(race)

    assert livez < forecast


def test_requests_at_the_same_time_do_not_mix(service) -> None:
    bodies = [of_one("2026-01-01", horizon=1 + number) for number in range(8)]
    for number, body in enumerate(bodies):
        body["series"]["y"] = [number + value for value in body["series"]["y"]]
    alone = [service.forecast(body).json() for body in bodies]

    async def all_at_once() -> list[Any]:
        answers: list[Any] = [None] * len(bodies)

        async def ask(number: int) -> None:
            answers[number] = (await service._client.post("/v1/forecasts", json=bodies[number])).json()

        async with anyio.create_task_group() as group:
            for number in range(len(bodies)):
                group.start_soon(ask, number)
        return answers

    assert service.call(all_at_once) == alone


def test_a_policy_of_the_models_contract_holds_for_requests(
    start_service, save_tiny: Callable[..., Path], request_body: Body
) -> None:
    folder = save_tiny(contract=DataContract(on_missing="refuse"))
    service = start_service(Settings(artifact=folder)).wait_until_ready()

    answer = service.forecast(request_body).json()

    assert answer["errors"]["north"]["code"] == "missing_values"
    assert answer["series"]["unique_id"] == ["south"]
