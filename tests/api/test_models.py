"""Models of a registry: found by name, alias and version, described by their card, loaded when they are asked for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mlflow import MlflowClient

from api.settings import Settings
from pipelines.store import ensure_store

Body = dict[str, Any]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, save_tiny: Callable[..., Path]) -> MlflowClient:
    """`load` of two versions, the first champion; `price` of one, without an alias."""
    folder = tmp_path_factory.mktemp("registry")
    uri = f"sqlite:///{folder / 'mlflow.db'}"
    ensure_store(uri)
    client = MlflowClient(tracking_uri=uri, registry_uri=uri)
    for name, horizon in (("load", 8), ("load", 4), ("price", 2)):
        logged = folder / f"{name}-{horizon}"
        save_tiny(name=name, horizon=horizon).rename(_made(logged / "artifacts") / "artifact")
        if name not in [model.name for model in client.search_registered_models()]:
            client.create_registered_model(name)
        client.create_model_version(name, source=logged.as_uri())
    client.set_registered_model_alias("load", "champion", "1")
    return client


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(scope="module")
def service(start_service, client: MlflowClient, tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LONGCAST_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield start_service(Settings(tracking_uri=client.tracking_uri, max_loaded_models=1)).wait_until_ready()


def of(body: Body, model: str) -> Body:
    return {key: value for key, value in body.items() if key != "horizon"} | {"model": model}


def test_the_only_champion_answers_where_no_model_is_named(service, request_body: Body) -> None:
    answer = service.forecast(request_body)

    assert (answer.json()["model"]["name"], answer.json()["model"]["version"]) == ("load", "1")
    assert answer.headers["X-Model-Version"] == "load/1"


@pytest.mark.parametrize(
    ("reference", "version", "horizon"),
    [("load", "load/1", 8), ("load@champion", "load/1", 8), ("load/2", "load/2", 4), ("price/1", "price/1", 2)],
)
def test_a_model_is_found_by_name_alias_or_version(
    service, request_body: Body, reference: str, version: str, horizon: int
) -> None:
    answer = service.forecast(of(request_body, reference))

    assert answer.headers["X-Model-Version"] == version
    assert answer.json()["horizon"] == horizon
    described = service.get(f"/v1/models/{reference}")
    assert described.headers["X-Model-Version"] == version
    assert described.json()["details"]["digest"] == answer.json()["model"]["digest"]


@pytest.mark.parametrize("reference", ["load@rival", "load/9", "price", "wind", "wind/1"])
def test_what_is_not_registered_is_not_found(service, request_body: Body, reference: str) -> None:
    assert service.forecast(of(request_body, reference)).status_code == 404
    assert service.get(f"/v1/models/{reference}").status_code == 404


def test_an_alias_given_later_is_followed(service, client: MlflowClient, request_body: Body) -> None:
    for version in ("2", "1"):
        client.set_registered_model_alias("load", "trial", version)

        assert service.forecast(of(request_body, "load@trial")).headers["X-Model-Version"] == f"load/{version}"


def test_every_version_is_listed_and_the_default_marked(service) -> None:
    models = service.get("/v1/models").json()["models"]

    assert [(model["name"], model["version"]) for model in models] == [("load", "2"), ("load", "1"), ("price", "1")]
    assert [model["default"] for model in models] == [False, True, False]
    assert models[1]["aliases"][0] == "champion"
    assert models[1]["created"].endswith("Z")


def test_a_description_holds_what_a_caller_needs_to_know(service) -> None:
    details = service.get("/v1/models/load").json()["details"]

    assert details["frequency"] == "h"
    assert (details["context_length"], details["horizon"]) == (32, 8)
    assert details["quantile_levels"][0] == 0.05
    assert details["trained_until"] == "2026-10-31T23:00:00"
    assert details["backtest"] == {"mase": 0.75}


def test_the_model_unused_for_longest_makes_room(service, request_body: Body) -> None:
    for reference in ("load/2", "price/1"):
        service.forecast(of(request_body, reference))

    details = {f"{m['name']}/{m['version']}": m["details"] for m in service.get("/v1/models").json()["models"]}

    assert details["load/1"] is not None  # the default one stays
    assert details["load/2"] is None
    assert details["price/1"] is not None


def test_models_in_memory_answer_while_the_registry_is_away(service, client: MlflowClient, request_body: Body) -> None:
    service.forecast(of(request_body, "price/1"))
    store = Path(client.tracking_uri.removeprefix("sqlite:///"))
    away = store.rename(store.with_suffix(".away"))
    try:
        store.write_bytes(b"")
        statuses = {name: service.forecast(of(request_body, name)).status_code for name in ("load@champion", "price/1")}
    finally:
        away.rename(store)

    assert statuses == {"load@champion": 200, "price/1": 200}


def test_of_two_champions_one_must_be_named(start_service, client: MlflowClient) -> None:
    client.set_registered_model_alias("price", "champion", "1")
    try:
        service = start_service(Settings(tracking_uri=client.tracking_uri, first_retry_s=0.05))
        named = start_service(Settings(tracking_uri=client.tracking_uri, model="price/1")).wait_until_ready()
        answer = service.get("/readyz")
        while "loaded" in answer.json()["detail"]:
            answer = service.get("/readyz")
    finally:
        client.delete_registered_model_alias("price", "champion")

    assert "load, price" in answer.json()["detail"]
    assert named.get("/readyz").headers["X-Model-Version"] == "price/1"
