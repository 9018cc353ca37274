"""The OpenAPI description and the page that shows it, with everything the page needs served from here."""

from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from pydantic.json_schema import models_json_schema

from api.errors import MEDIA_TYPE, Problem
from api.schemas import ForecastRequest

ASSETS = "/docs/assets"

COMPONENTS = "#/components/schemas/{model}"

PROBLEMS = {
    "400": "The body is not JSON.",
    "404": "No such model, or no such path.",
    "413": "The body is too large.",
    "415": "The body is not declared as plain JSON.",
    "422": "The body is JSON but no request that can be answered; `errors` says where.",
    "503": "The model is not ready, or the registry cannot be reached; try again after Retry-After.",
    "default": "Any other failure.",
}

PROBLEMS_OF = {
    "/v1/forecasts": ("400", "404", "413", "415", "422", "503"),
    "/v1/models": ("503",),
    "/v1/models/{reference}": ("404", "503"),
    "/readyz": ("503",),
}


def add_documentation(app: FastAPI) -> None:
    """Serve `/openapi.json` and `/docs`; the page asks no other host for anything."""
    app.openapi = lambda: _described(app)  # FastAPI's own way of changing it
    # Swagger UI as a package: the page works without a network, and its version is pinned with the others.
    app.mount(ASSETS, StaticFiles(packages=[("fastapi_offline", "static")]), name="assets")
    app.add_api_route("/docs", _page, include_in_schema=False)


def _page(request: Request) -> HTMLResponse:
    root = request.scope.get("root_path", "")
    return get_swagger_ui_html(
        openapi_url=f"{root}/openapi.json",
        title=f"{request.app.title} - HTTP",
        swagger_js_url=f"{root}{ASSETS}/swagger-ui-bundle.js",
        swagger_css_url=f"{root}{ASSETS}/swagger-ui.css",
        swagger_favicon_url=f"{root}{ASSETS}/favicon.png",
        swagger_ui_parameters={"validatorUrl": None},  # by default it shows a badge that another host draws
    )


def _described(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        described = get_openapi(
            title=app.title,
            version=app.version,
            description=app.description,
            routes=app.routes,
            tags=app.openapi_tags,
        )
        _add_schemas(described)
        _add_problems(described)
        _add_body(described["paths"]["/v1/forecasts"]["post"])
        app.openapi_schema = described
    return app.openapi_schema


def _add_schemas(described: dict[str, Any]) -> None:
    """Add the schemas that FastAPI cannot see: the request is parsed off the event loop, problems by handlers."""
    _, schemas = models_json_schema(
        [(ForecastRequest, "validation"), (Problem, "serialization")], ref_template=COMPONENTS
    )
    components = described["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError"):
        components.pop(unused, None)
    components |= schemas["$defs"]


def _add_problems(described: dict[str, Any]) -> None:
    content = {MEDIA_TYPE: {"schema": {"$ref": COMPONENTS.format(model="Problem")}}}
    for path, operations in described["paths"].items():
        for operation in operations.values():
            operation["responses"].pop("422", None)
            for status in (*PROBLEMS_OF.get(path, ()), "default"):
                operation["responses"][status] = {"description": PROBLEMS[status], "content": content}


def _add_body(operation: dict[str, Any]) -> None:
    reference = {"$ref": COMPONENTS.format(model="ForecastRequest")}
    operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": reference}}}
