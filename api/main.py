"""The service as a process: `serve` listens until it is told to stop."""

import os

import structlog
import uvicorn

from api.app import create_app
from api.settings import Settings, refuse_open_door
from api.telemetry import set_up_logging

GRACE_S = 30
"""Seconds that requests have to come to their end once the service is told to stop."""

MLFLOW = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
}
"""The service tries again itself; MLflow alone would for minutes, in which nobody learns why it is not ready."""


def serve(settings: Settings) -> None:
    """Answer requests until the process is told to stop (SIGTERM, SIGINT).

    Raises:
        ConfigError: the address can be reached from other machines, and there is no authentication.
    """
    refuse_open_door(settings)
    for name, value in MLFLOW.items():
        os.environ.setdefault(name, value)
    set_up_logging(settings.log_level)
    structlog.get_logger().info("no authentication: whoever can run programs on this machine can ask for forecasts")
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
