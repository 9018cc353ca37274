"""Whether the service lives, whether it is ready, and what it is."""

import platform

import torch
from fastapi import APIRouter

from api.deps import ServingDep
from api.descriptions import Health, Version
from forecast.version import git_sha, library_version

router = APIRouter(tags=["health"])


@router.get("/livez")
async def livez() -> Health:
    """Answer as long as the service can answer anything."""
    return Health(status="alive")


@router.get("/readyz")
async def readyz(serving: ServingDep) -> Health:
    """Answer 200 once the default model is loaded and has made a forecast; until then 503 with the reason."""
    await serving.get(None)
    return Health(status="ready")


@router.get("/version")
def version() -> Version:
    """Tell which Longcast runs here, and on what."""
    return Version(
        longcast=library_version(), git_sha=git_sha(), python=platform.python_version(), torch=torch.__version__
    )
