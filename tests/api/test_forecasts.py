"""Forecasts over HTTP are the library's, whatever else the service is asked meanwhile."""

import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import polars as pl
import pytest

from api.schemas import ForecastAnswer
from api.settings import Settings
from forecast.frames.frequency import Frequency
from forecast.predictor import Predictor
from tests.api.asking import Body, columns, of_one


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


def test_another_frequency_than_the_models_is_noticed(service) -> None:
    (notice,) = service.forecast(of_one("2026-01-01", freq="D")).json()["notices"]

    assert notice["code"] == "other_frequency"


@pytest.mark.parametrize("freq", ["WOM-3FRI", "B[DE]", "h[mon-fri, 09:00-17:30]", "SMS-15", "bh"])
def test_every_frequency_of_the_library_may_be_named(service, freq: str) -> None:
    start = "2026-11-20T09:00:00" if freq != "SMS-15" else "2026-11-15T00:00:00"

    assert service.forecast(of_one(start, freq=freq)).json()["freq"] == Frequency.parse(freq).text


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
            answer = await service.client.post("/v1/forecasts", json=body)
            assert answer.status_code == 200
            ends["forecast"] = time.perf_counter()

        async with anyio.create_task_group() as group:
            group.start_soon(long_forecast)
            await anyio.sleep(0.02)
            await service.client.get("/livez")
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
            answers[number] = (await service.client.post("/v1/forecasts", json=bodies[number])).json()

        async with anyio.create_task_group() as group:
            for number in range(len(bodies)):
                group.start_soon(ask, number)
        return answers

    assert service.call(all_at_once) == alone
