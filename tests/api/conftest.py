"""Services to ask: tiny models with random weights, saved as artifacts, behind the real application."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
import structlog
import torch
from anyio.from_thread import BlockingPortal, start_blocking_portal
from fastapi import FastAPI

from api.app import create_app
from api.settings import Settings
from forecast.artifact import Artifact, save_artifact
from forecast.card import Card, TimeFormat
from forecast.frames.contract import DataContract
from forecast.losses import SquaredError
from forecast.model.layers import LayerConfig
from forecast.model.transformer import ForecastModel, ModelConfig

PATIENCE_S = 30
"""How long a model may take to be ready on a busy machine."""

ARCHITECTURE = ModelConfig(context_length=32, horizon=8, patch_length=4, layer=LayerConfig(d_model=16, num_heads=2))


class Service:
    """An application that has been started, asked without a socket between."""

    def __init__(self, app: FastAPI, portal: BlockingPortal, client: httpx2.AsyncClient):
        self.app = app
        self._portal = portal
        self.client = client

    def ask(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        return self._portal.call(lambda: self.client.request(method, path, **sent))

    def get(self, path: str, **sent: Any) -> httpx2.Response:
        return self.ask("GET", path, **sent)

    def forecast(self, body: Any = None, **sent: Any) -> httpx2.Response:
        """Ask for forecasts; a body that is no bytes is sent as JSON."""
        content = {"content": body} if isinstance(body, bytes) else {"json": body}
        headers = {"Content-Type": "application/json"} | sent.pop("headers", {})
        return self.ask("POST", "/v1/forecasts", headers=headers, **content, **sent)

    def call(self, work: Callable[[], Any]) -> Any:
        """Await what `work` gives, on the service's own loop."""
        return self._portal.call(work)

    def wait_until_ready(self) -> "Service":
        deadline = time.monotonic() + PATIENCE_S
        while (answer := self.get("/readyz")).status_code != 200:
            assert time.monotonic() < deadline, answer.text
            time.sleep(0.02)
        return self


@pytest.fixture(scope="session", autouse=True)
def quiet() -> None:
    """Services that try again and again write no lines between the tests'; `capture_logs` still sees them."""
    structlog.configure(logger_factory=structlog.ReturnLoggerFactory())


@pytest.fixture(scope="session")
def start_service() -> Iterator[Callable[[Settings], Service]]:
    """Starts applications, and stops them at the end of the session."""
    with ExitStack() as stack:
        portal = stack.enter_context(start_blocking_portal())

        def start(settings: Settings) -> Service:
            app = create_app(settings.model_copy(update={"cpu_threads": 1}))
            stack.enter_context(portal.wrap_async_context_manager(app.router.lifespan_context(app)))
            transport = httpx2.ASGITransport(app)
            client = httpx2.AsyncClient(transport=transport, base_url="http://service", timeout=PATIENCE_S)
            stack.callback(portal.call, client.aclose)
            return Service(app, portal, client)

        yield start


@pytest.fixture(scope="session")
def save_tiny(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Saves a tiny model; keywords change its card. With weights of some `spread` everything tells in the forecast."""

    def save(*, horizon: int = ARCHITECTURE.horizon, spread: float | None = None, **changed: Any) -> Path:
        card = Card(
            name="tiny",
            library_version="0.1.0",
            git_sha=None,
            model=replace(ARCHITECTURE, horizon=horizon),
            contract=DataContract(),
            frequency="h",
            time=TimeFormat(kind="datetime", unit="us"),
            trained_until="2026-10-31T23:00:00",
            num_series=3,
            data_digest="0" * 32,
            backtest={"mase": 0.75},
        )
        card = replace(card, **changed)
        torch.manual_seed(1)
        model = ForecastModel(card.model, covariates=card.covariates, channels=card.channels)
        for weights in model.parameters() if spread is not None else ():
            torch.nn.init.normal_(weights, std=spread)
        return save_artifact(Artifact(model, card), tmp_path_factory.mktemp("model") / "artifact")

    return save


@pytest.fixture(scope="session")
def artifact(save_tiny: Callable[..., Path]) -> Path:
    """The folder of a tiny hourly model that forecasts quantiles."""
    return save_tiny()


@pytest.fixture(scope="session")
def point_artifact(save_tiny: Callable[..., Path]) -> Path:
    """The folder of a tiny model that forecasts points, of series that count time in integers."""
    return save_tiny(name="points", model=replace(ARCHITECTURE, head=SquaredError()), frequency="2")


@pytest.fixture(scope="session")
def service(start_service: Callable[[Settings], Service], artifact: Path) -> Service:
    """A ready service, with limits low enough to pass in a test."""
    settings = Settings(artifact=artifact, max_series=50, max_points=5_000, max_horizon=500, max_body_mb=0.2)
    return start_service(settings).wait_until_ready()


@pytest.fixture
def request_body() -> dict[str, Any]:
    """A good request of two series, new for each test to spoil."""
    return {
        "freq": "h",
        "horizon": 3,
        "quantiles": [0.1, 0.5, 0.9],
        "series": {
            "unique_id": ["north", "south"],
            "sizes": [4, 3],
            "start": ["2026-11-01T00:00:00Z", "2026-11-01T02:00:00Z"],
            "y": [31.5, 30.25, None, 29.0, 11.0, 12.5, 12.75],
        },
    }
