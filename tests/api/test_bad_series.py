"""One bad series is named in the answer and harms no other; only where none is usable is the request refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest

from api.answer import write_answer
from api.catalog.base import Entry, Served
from api.errors import Refused
from api.question import make_ready
from api.schemas import ForecastRequest
from api.settings import Settings
from forecast.frames.contract import DataContract
from forecast.transform import Log1p
from tests.api.asking import Body, columns, of_one
from tests.api.conftest import ARCHITECTURE

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
    question = make_ready(asked, served.predictor, limits=Settings())
    forecast = served.predictor.forecast(question.panel, request=question.asked)
    forecast.quantiles[1, 2, 0] = -np.inf

    answer = orjson.loads(write_answer(question, forecast, served))

    assert answer["series"]["unique_id"] == ["north"]
    assert answer["errors"]["south"]["code"] == "not_finite"
    forecast.mean[0, 0] = np.nan
    with pytest.raises(Refused, match="every series"):
        write_answer(question, forecast, served)


def test_a_series_with_nothing_lately_is_forecast_to_stay_and_warned_of(service) -> None:
    body = of_one("2026-11-01")
    body["series"]["y"] = [12.5] * 4 + [None] * 36

    answer = service.forecast(body).json()

    assert answer["series"]["mean"] == pytest.approx([12.5] * 3)
    assert "naive" in [warned["code"] for warned in answer["warnings"]["only"]]


def test_warnings_stand_with_their_series(service, request_body: Body) -> None:
    request_body["series"]["y"][4:] = [5, 5, 5]

    warnings = service.forecast(request_body).json()["warnings"]

    assert [warned["code"] for warned in warnings["north"]] == ["missing"]
    assert [warned["code"] for warned in warnings["south"]] == ["constant"]


def test_a_policy_of_the_models_contract_holds_for_requests(
    start_service, save_tiny: Callable[..., Path], request_body: Body
) -> None:
    folder = save_tiny(contract=DataContract(on_missing="refuse"))
    service = start_service(Settings(artifact=folder)).wait_until_ready()

    answer = service.forecast(request_body).json()

    assert answer["errors"]["north"]["code"] == "missing_values"
    assert answer["series"]["unique_id"] == ["south"]


def test_a_value_that_the_models_transform_cannot_take_costs_its_own_series_alone(
    save_tiny: Callable[..., Path], request_body: Body
) -> None:
    folder = save_tiny(model=replace(ARCHITECTURE, transform=Log1p()))
    request_body["series"]["y"][4] = -5.0

    served = Served.load(Entry("tiny", "1"), folder, device="cpu")
    question = make_ready(ForecastRequest.model_validate(request_body), served.predictor, limits=Settings())

    assert question.panel.ids == ("north",)
    assert "log1p" in question.faults["south"].message
