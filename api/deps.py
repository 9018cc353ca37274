"""What a route can ask for."""

from typing import Annotated

from fastapi import Depends, Request

from api.serving import Serving
from api.settings import Settings


def _serving(request: Request) -> Serving:
    return request.app.state.serving


def _settings(request: Request) -> Settings:
    return request.app.state.settings


ServingDep = Annotated[Serving, Depends(_serving)]

SettingsDep = Annotated[Settings, Depends(_settings)]
