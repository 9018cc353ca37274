"""Logs as JSON, one object a line: who asked for how much and how long it took, never the values sent."""

import logging
import sys
import traceback
from pathlib import Path

import orjson
import structlog
from structlog.typing import EventDict


def _without_values(_: object, __: str, line: EventDict) -> EventDict:
    """Tell where a failure happened and of what kind it is: its message and its variables can hold what was sent."""
    failure = line.pop("exc_info", None)
    error = sys.exc_info()[1] if failure is True else failure[1] if isinstance(failure, tuple) else failure
    if isinstance(error, BaseException):
        frames = traceback.extract_tb(error.__traceback__)
        places = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
        line.update(kind=type(error).__name__, places=places)
    return line


SHARED = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _without_values,
)
"""Steps that lines of this service and of the libraries beneath it go through alike."""


def set_up_logging(level: str) -> None:
    """Write every log of the process to standard error as JSON. Called once, by the process's own entry."""
    renderer = structlog.processors.JSONRenderer(serializer=_to_json)
    structlog.configure(
        processors=[*SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=SHARED,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)


def _to_json(line: dict[str, object], **_: object) -> str:
    return orjson.dumps(line, default=str).decode()
