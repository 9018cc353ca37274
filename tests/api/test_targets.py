"""Several targets over HTTP: a list of values each in, a forecast each out, and one fault for a whole series."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from api.answer import write_answer
from api.catalog.base import Entry, Served
from api.question import make_ready
from api.schemas import ForecastAnswer, ForecastRequest
from api.settings import Settings
from forecast.predictor import Predictor
from forecast.request import Request
from tests.api.asking import Body, problem
from tests.api.conftest import ARCHITECTURE
from tests.api.telling import HORIZON, SCHEMA, TARGETS, contract, frames_of, of_series, told_body


@pytest.fixture(scope="module")
def wide_artifact(save_tiny: Callable[..., Path]) -> Path:
    """The folder of a model of two targets that see each other."""
    model = replace(ARCHITECTURE, channels="mixed")
    return save_tiny(model=model, contract=contract(*TARGETS), covariates=SCHEMA, channels=TARGETS, spread=0.2)


@pytest.fixture(scope="module")
def wide(start_service: Callable[[Settings], Any], wide_artifact: Path) -> Any:
    return start_service(Settings(artifact=wide_artifact)).wait_until_ready()


@pytest.fixture
def body() -> Body:
    return told_body(*TARGETS)


def test_a_forecast_of_several_targets_is_the_one_of_a_frame(wide, wide_artifact: Path, body: Body) -> None:
    answer = wide.forecast(body).json()["series"]

    predictor, (frame, future) = Predictor.load(wide_artifact), frames_of(body)
    asked = Request.complete(predictor.card, horizon=HORIZON, quantile_levels=(0.1, 0.5, 0.9))
    expected = predictor.answer(frame, future=future, request=asked).frame()

    assert answer["unique_id"] == ["s0", "s1", "s2"]
    assert len(answer["timestamps"]) == 3 * HORIZON
    assert list(answer["targets"]) == list(TARGETS)
    for name, found in answer["targets"].items():
        rows = expected.filter(target_name=name)
        assert found["mean"] == pytest.approx(rows["mean"].to_list(), rel=1e-6)
        assert found["quantiles"]["0.9"] == pytest.approx(rows["0.9"].to_list(), rel=1e-6)


def test_the_answer_keeps_to_its_schema(wide, body: Body) -> None:
    answer = wide.forecast(body)

    ForecastAnswer.model_validate_json(answer.content, strict=True, extra="forbid")
    assert "mean" not in answer.json()["series"]


def test_each_series_alone_and_in_any_order_has_the_same_forecasts(wide, body: Body) -> None:
    together = _means(wide.forecast(body).json()["series"])
    shuffled = _means(wide.forecast(of_series(body, [1, 2, 0])).json()["series"])
    alone = _means(wide.forecast(of_series(body, [1])).json()["series"])

    assert shuffled == {name: pytest.approx(mean, rel=1e-5) for name, mean in together.items()}
    assert alone["s1"] == pytest.approx(together["s1"], rel=1e-5)


def _means(answer: Body) -> dict[str, list[float]]:
    count = len(answer["unique_id"])
    means = np.stack([np.reshape(found["mean"], (count, HORIZON)) for found in answer["targets"].values()], axis=1)
    return dict(zip(answer["unique_id"], means.reshape(count, -1).tolist(), strict=True))


UNFIT = [
    ([1.0] * 95, "/series/y", "several_targets"),
    ({"load": [1.0] * 95}, "/series/y/wind power", "missing"),
    ({"load": [1.0] * 95, "wind power": [1.0] * 94}, "/series/y/wind power", "length_mismatch"),
    ({"load": [1.0] * 95, "wind power": [1.0] * 95, "heat": []}, "/series/y/heat", "unknown_key"),
]


@pytest.mark.parametrize(("y", "pointer", "code"), UNFIT)
def test_targets_that_are_not_the_models_are_refused(wide, body: Body, y: Any, pointer: str, code: str) -> None:
    body["series"]["y"] = y

    (fault,) = problem(wide.forecast(body), 422).errors

    assert (fault.pointer, fault.code) == (pointer, code)


def test_a_target_without_a_value_is_named_and_the_others_are_forecast(wide, body: Body) -> None:
    body["series"]["y"]["wind power"][40:64] = [None] * 24

    answer = wide.forecast(body).json()

    assert answer["series"]["unique_id"] == ["s0", "s2"]
    assert len(answer["series"]["targets"]["load"]["mean"]) == 2 * HORIZON
    fault = answer["errors"]["s1"]
    assert (fault["pointer"], fault["code"], fault["field"]) == (
        "/series/y/wind power/40",
        "missing_values",
        "wind power",
    )


def test_warnings_stand_with_the_series_and_name_the_target(wide, body: Body) -> None:
    body["series"]["y"]["wind power"][:40] = [5.0] * 39 + [None]

    warnings = wide.forecast(body).json()["warnings"]

    (missing,) = (warned for warned in warnings["s0"] if warned["code"] == "missing")
    assert "s0/wind power" in missing["message"]


def test_a_forecast_that_is_not_finite_takes_all_targets_of_its_series(wide_artifact: Path, body: Body) -> None:
    served = Served.load(Entry("tiny", "1"), wide_artifact, device="cpu")
    question = make_ready(ForecastRequest.model_validate(body), served.predictor, limits=Settings())
    forecast = served.predictor.forecast(question.panel, request=question.asked)
    forecast.mean[3, 2] = np.inf  # the second target of the second series

    answer = orjson.loads(write_answer(question, forecast, served))

    assert answer["series"]["unique_id"] == ["s0", "s2"]
    assert answer["errors"]["s1"]["code"] == "not_finite"
    assert len(answer["series"]["targets"]["wind power"]["mean"]) == 2 * HORIZON


def test_targets_count_towards_the_limits(start_service: Callable[..., Any], wide_artifact: Path, body: Body) -> None:
    few = start_service(Settings(artifact=wide_artifact, max_points=150)).wait_until_ready()
    short = start_service(Settings(artifact=wide_artifact, max_answer_values=239)).wait_until_ready()

    assert problem(few.forecast(body), 422).errors[0].pointer == "/series/y"  # 2 targets x 95 steps
    assert problem(short.forecast(body), 422).errors[0].pointer == "/horizon"  # 3 series x 2 x 10 steps x 4 = 240


def test_a_description_lists_the_targets(wide) -> None:
    assert wide.get("/v1/models/tiny").json()["details"]["targets"] == list(TARGETS)
