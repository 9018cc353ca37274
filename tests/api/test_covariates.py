"""Covariates over HTTP: the numbers are those of frames, what is not told is named, and what is not used is said."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from api.routes.models import MOST_LEVELS
from api.schemas import ForecastAnswer
from api.settings import Settings
from forecast.card import TimeFormat
from forecast.frames.contract import DataContract
from forecast.frames.covariate_columns import CovariateColumns
from forecast.frames.covariates import Covariate, CovariateSchema
from forecast.frames.features import Holidays
from forecast.predictor import Predictor
from forecast.request import Request
from tests.api.asking import SECRET, Body, changed, columns, of_one, problem
from tests.api.telling import COLUMNS, HORIZON, SCHEMA, contract, frames_of, of_series, told_body

BERLIN_TIME = TimeFormat(kind="datetime", unit="us", zone="Europe/Berlin")


@pytest.fixture(scope="module")
def told_artifact(save_tiny: Callable[..., Path]) -> Path:
    """The folder of a model that is told covariates of every role and kind."""
    return save_tiny(contract=contract(), covariates=SCHEMA, time=BERLIN_TIME, spread=0.2)


@pytest.fixture(scope="module")
def told(start_service: Callable[[Settings], Any], told_artifact: Path) -> Any:
    return start_service(Settings(artifact=told_artifact)).wait_until_ready()


@pytest.fixture
def body() -> Body:
    return told_body()


# ---- The numbers


def test_a_forecast_with_covariates_is_the_one_of_frames_of_the_same_rows(told, told_artifact, body: Body) -> None:
    answer = columns(told.forecast(body))

    predictor, (frame, future) = Predictor.load(told_artifact), frames_of(body)
    asked = Request.complete(predictor.card, horizon=HORIZON, quantile_levels=(0.1, 0.5, 0.9))
    expected = predictor.answer(frame, future=future, request=asked).frame()

    assert np.repeat(answer["unique_id"], answer["sizes"]).tolist() == expected["unique_id"].to_list()
    assert answer["timestamps"] == expected["ds"].dt.to_string("%Y-%m-%dT%H:%M:%S%.f%:z").to_list()
    assert answer["mean"] == pytest.approx(expected["mean"].to_list(), rel=1e-6)
    for level in ("0.1", "0.5", "0.9"):
        assert answer["quantiles"][level] == pytest.approx(expected[level].to_list(), rel=1e-6)


TELLING = [
    ("series.past.wind", 39, 5.0),
    ("series.past.open", 38, None),
    ("series.past.event", 37, "fair"),
    ("series.past.event", 37, "match"),
    ("series.past.price", 39, None),
    ("series.past.tariff", 39, None),
    ("series.static.area", 0, 9.0),
    ("series.static.area", 0, None),
    ("series.static.region", 0, None),
    ("future.price", 0, 5.0),
    ("future.price", 9, 5.0),
    ("future.tariff", 4, 3),
]


@pytest.mark.parametrize(("place", "number", "cell"), TELLING)
def test_every_covariate_tells_in_the_forecast_of_its_series_alone(
    told, body: Body, place: str, number: int, cell: Any
) -> None:
    before = columns(told.forecast(changed(body, "series.past.event", ["fair", "match", None] * 31 + ["fair"] * 2)))
    cells = body
    for step in place.split("."):
        cells = cells[step]
    cells[number] = cell if cells[number] != cell else {"fair": "match", "match": "fair"}[cell]

    after = columns(told.forecast(body))

    assert after["mean"][:HORIZON] != before["mean"][:HORIZON]
    assert after["mean"][HORIZON:] == pytest.approx(before["mean"][HORIZON:], rel=1e-6)


def test_calendar_features_are_of_the_zone_of_the_request(told, body: Body) -> None:
    here, there = (columns(told.forecast(body | {"zone": zone})) for zone in ("Europe/Berlin", "Asia/Tokyo"))

    assert here["mean"] != there["mean"]


def test_each_series_alone_and_in_any_order_has_the_same_forecast(told, body: Body) -> None:
    together = _by_id(columns(told.forecast(body)))
    shuffled = _by_id(columns(told.forecast(of_series(body, [2, 0, 1]))))
    alone = [_by_id(columns(told.forecast(of_series(body, [number])))) for number in range(3)]

    for name, mean in together.items():
        assert shuffled[name] == pytest.approx(mean, rel=1e-5)
    for number, found in enumerate(alone):
        assert found[f"s{number}"] == pytest.approx(together[f"s{number}"], rel=1e-5)


def _by_id(answer: Body) -> dict[str, list[float]]:
    means = np.array(answer["mean"]).reshape(-1, HORIZON).tolist()
    return dict(zip(answer["unique_id"], means, strict=True))


def test_true_is_one_and_a_whole_number_is_the_category_of_its_digits(told, body: Body) -> None:
    spelt = told_body()
    spelt["series"]["past"]["open"] = [int(cell) for cell in body["series"]["past"]["open"]]
    spelt["series"]["past"]["tariff"] = [float(cell) for cell in body["series"]["past"]["tariff"]]
    spelt["future"]["tariff"] = [str(cell) for cell in body["future"]["tariff"]]

    assert columns(told.forecast(spelt)) == columns(told.forecast(body))


# ---- What is not told

UNFIT = [
    ("series.past", "price", None, "/series/past/price", "missing"),
    ("series.past", "wind", None, "/series/past/wind", "missing"),
    ("series.static", "region", None, "/series/static/region", "missing"),
    ("series.past", "wind", [1.0] * 94, "/series/past/wind", "length_mismatch"),
    ("series.past", "wind", [], "/series/past/wind", "length_mismatch"),
    ("series.static", "area", [1.0] * 2, "/series/static/area", "length_mismatch"),
    ("future", "price", [1.0] * 29, "/future/price", "length_mismatch"),
    ("future", "price", [1.0] * HORIZON, "/future/price", "length_mismatch"),
    ("series.past", "wind", ["strong"] * 95, "/series/past/wind", "wrong_type"),
    ("series.static", "area", ["wide"] * 3, "/series/static/area", "wrong_type"),
    ("future", "price", [SECRET] * 30, "/future/price", "wrong_type"),
]


@pytest.mark.parametrize(("place", "name", "cells", "pointer", "code"), UNFIT)
def test_a_column_that_does_not_fit_is_refused_by_pointer(
    told, body: Body, place: str, name: str, cells: Any, pointer: str, code: str
) -> None:
    *parents, last = place.split(".")
    columns_there = (body[parents[0]] if parents else body)[last]
    if cells is None:
        del columns_there[name]
    else:
        columns_there[name] = cells

    (fault,) = problem(told.forecast(body), 422).errors

    assert (fault.pointer, fault.code, fault.field) == (pointer, code, name)


def test_all_that_is_not_told_is_listed_at_once(told, body: Body) -> None:
    del body["series"]["past"], body["series"]["static"]

    faults = problem(told.forecast(body), 422).errors

    assert [fault.pointer for fault in faults] == [
        *(f"/series/past/{name}" for name in (*COLUMNS.past, *COLUMNS.future)),
        *(f"/series/static/{name}" for name in COLUMNS.static),
    ]


def test_a_series_that_lacks_what_must_be_known_ahead_is_named_with_its_steps(
    told, told_artifact: Path, body: Body
) -> None:
    before = columns(told.forecast(body))
    body["future"]["price"][HORIZON : 2 * HORIZON] = [float(SECRET)] + [None] * 6 + [1.5] * 3

    answer = told.forecast(body)

    assert SECRET not in answer.text
    assert answer.json()["series"]["unique_id"] == ["s0", "s2"]
    assert answer.json()["series"]["mean"][:HORIZON] == pytest.approx(before["mean"][:HORIZON], rel=1e-5)
    fault = answer.json()["errors"]["s1"]
    assert (fault["code"], fault["pointer"], fault["field"]) == ("covariates_missing", "/future/price/10", "price")
    predictor, (frame, future) = Predictor.load(told_artifact), frames_of(body)
    asked = Request.complete(predictor.card, horizon=HORIZON)
    expected = str(predictor.answer(frame, future=future, request=asked).left_out["s1"])
    assert fault["message"].split("; ")[0] == expected.split("; ")[0]
    assert fault["message"].count("('s1', ") == 5
    assert "and 1 more" in fault["message"]


def test_without_a_column_that_must_be_known_ahead_no_series_is_usable(told, body: Body) -> None:
    del body["future"]["price"]

    found = problem(told.forecast(body), 422)

    assert found.type == "urn:longcast:problem:no_usable_series"
    assert [(fault.series, fault.pointer, fault.code) for fault in found.errors] == [
        (f"s{number}", "/future/price", "covariates_missing") for number in range(3)
    ]


def test_a_series_at_fault_takes_its_own_cells_with_it(told, body: Body) -> None:
    expected = columns(told.forecast(of_series(body, [0, 2])))
    body["series"]["start"][1] = "tomorrow"

    answer = columns(told.forecast(body))

    assert answer["unique_id"] == ["s0", "s2"]
    assert answer["mean"] == pytest.approx(expected["mean"], rel=1e-6)


def test_history_that_is_not_known_is_warned_of(told, body: Body) -> None:
    body["series"]["past"]["wind"][40:42] = [None, None]
    body["series"]["past"]["event"] = ["fair"] * 95

    warnings = told.forecast(body).json()["warnings"]

    assert [warned["code"] for warned in warnings["s1"]] == ["covariate_missing"]
    assert "'wind' has 2" in warnings["s1"][0]["message"]
    assert list(warnings) == ["s1"]


# ---- What is not used


def test_columns_that_the_model_is_not_told_are_noticed(told, body: Body) -> None:
    expected = told.forecast(body).json()["series"]
    body["series"]["past"] |= {"hour": [1, 2], "n" * 1_000: ["text"]} | {f"x{number}": [] for number in range(9)}
    body["series"]["static"]["price"] = [SECRET]
    body["future"] |= {"wind": [1.0], "area": []}

    answer = told.forecast(body).json()

    assert answer["series"] == expected
    past, static, future = answer["notices"]
    assert {notice["code"] for notice in answer["notices"]} == {"unused_covariates"}
    assert past["message"].startswith("/series/past has columns that this model is not told there: 'hour', 'nnnn")
    assert past["message"].endswith("and 6 more: not used")
    assert len(past["message"]) < 250
    assert "'price'" in static["message"]
    assert SECRET not in static["message"]
    assert "'wind', 'area'" in future["message"]


def test_a_model_that_is_told_nothing_notices_covariates(service, request_body: Body) -> None:
    expected = columns(service.forecast(request_body))
    request_body["series"]["past"] = {"price": [1.0] * 7}
    request_body["future"] = {"price": [1.0] * 6}

    answer = service.forecast(request_body).json()

    assert answer["series"] == expected
    assert [notice["code"] for notice in answer["notices"]] == ["unused_covariates"] * 2


def test_a_category_that_training_never_saw_counts_as_unknown_and_is_noticed(told, body: Body) -> None:
    body["series"]["static"]["region"] = [None, "coast", "coast"]
    unknown = columns(told.forecast(body))
    body["series"]["static"]["region"] = [SECRET, "coast", "coast"]

    answer = told.forecast(body)

    assert answer.json()["series"] == unknown
    (notice,) = answer.json()["notices"]
    assert notice["code"] == "unknown_category"
    assert "region" in notice["message"]
    assert SECRET not in answer.text


# ---- The calendar


def test_another_zone_than_the_one_of_training_is_noticed(told, body: Body) -> None:
    assert told.forecast(body).json()["notices"] == []

    (notice,) = told.forecast(body | {"zone": "UTC"}).json()["notices"]

    assert notice["code"] == "other_zone"
    assert "Europe/Berlin" in notice["message"]


def test_steps_that_have_no_calendar_are_refused(told, body: Body) -> None:
    del body["zone"]

    (fault,) = problem(told.forecast(changed(body, "series.start", [1, 2, 3]) | {"freq": "1"}), 422).errors

    assert (fault.pointer, fault.code) == ("/freq", "wrong_frequency")
    assert "told calendar features that steps of '1' do not have" in fault.message
    assert fault.message.endswith("the model was trained on steps of 'h'")


def test_years_whose_holidays_nobody_knows_are_refused(start_service, save_tiny: Callable[..., Path]) -> None:
    calendar = (Holidays(country="DE"),)
    names = calendar[0].column_names
    schema = CovariateSchema(calendar=tuple(Covariate(name=name) for name in names))
    folder = save_tiny(contract=DataContract(calendar=calendar), covariates=schema, frequency="D")
    service = start_service(Settings(artifact=folder)).wait_until_ready()

    assert service.forecast(of_one("2026-12-01")).status_code == 200
    (fault,) = problem(service.forecast(of_one("2200-12-01")), 422).errors

    assert (fault.pointer, fault.code) == ("/series/start", "outside_calendar")


# ---- The description


def test_a_description_says_what_to_tell(told) -> None:
    details = told.get("/v1/models/tiny").json()["details"]

    assert details["targets"] == ["y"]
    found = {one["name"]: one for one in details["covariates"]}
    roles = {name: one["role"] for name, one in found.items()}
    assert roles == {
        **dict.fromkeys(COLUMNS.past, "past"),
        **dict.fromkeys(COLUMNS.future, "future"),
        **dict.fromkeys(COLUMNS.static, "static"),
        **dict.fromkeys(("hour_sin", "hour_cos", "weekday_sin", "weekday_cos"), "calendar"),
    }
    assert found["wind"] == {"name": "wind", "role": "past", "kind": "numeric", "num_levels": 0, "levels": []}
    assert (found["region"]["num_levels"], found["region"]["levels"]) == (2, ["coast", "inland"])


def test_a_long_vocabulary_is_cut_short(start_service, save_tiny: Callable[..., Path]) -> None:
    levels = tuple(f"product {number:04}" for number in range(1_000))
    schema = CovariateSchema(static=(Covariate(name="product", kind="categorical", levels=levels),))
    told = DataContract(covariates=CovariateColumns(static=("product",)))
    service = start_service(Settings(artifact=save_tiny(contract=told, covariates=schema))).wait_until_ready()

    (found,) = service.get("/v1/models/tiny").json()["details"]["covariates"]

    assert found["num_levels"] == 1_000
    assert found["levels"] == list(levels[:MOST_LEVELS])


def test_an_answer_with_faults_and_notices_keeps_to_its_schema(told, body: Body) -> None:
    body["future"]["price"][0] = None
    body["future"]["more"] = [1.0]

    ForecastAnswer.model_validate_json(told.forecast(body).content, strict=True, extra="forbid")
