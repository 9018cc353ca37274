"""The service, wired: everything meets here and only here."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from api.catalog.base import Catalog
from api.catalog.folder import FolderCatalog
from api.catalog.registry import RegistryCatalog
from api.documentation import add_documentation
from api.errors import install_handlers
from api.middleware import BodyLimit, Door, Head
from api.routes import ROUTERS
from api.serving import Serving
from api.settings import Settings
from forecast.version import library_version

DESCRIPTION = "Forecasts of time series over HTTP: histories in, means and quantiles with timestamps out."


def create_app(settings: Settings) -> FastAPI:
    """Build the service. Nothing is loaded before it starts."""
    serving = Serving(_catalog(settings), settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        serving.start()
        yield
        await serving.stop()

    app = FastAPI(
        title="Longcast",
        version=library_version(),
        description=DESCRIPTION,
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,  # a path is there or is not, and no answer is built from the Host header
    )
    app.state.serving, app.state.settings = serving, settings
    for router in ROUTERS:
        app.include_router(router)
    install_handlers(app)
    add_documentation(app)
    _add_middleware(app, serving, settings)
    return app


def _add_middleware(app: FastAPI, serving: Serving, settings: Settings) -> None:
    """Add the layers, the innermost first."""
    app.add_middleware(Head)
    app.add_middleware(BodyLimit, max_body_mb=settings.max_body_mb)
    app.add_middleware(Door, serving=serving)


def _catalog(settings: Settings) -> Catalog:
    return RegistryCatalog(settings.tracking_uri) if settings.artifact is None else FolderCatalog(settings.artifact)
