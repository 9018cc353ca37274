"""Libraries that talk too much are asked to keep to a level for a while."""

import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager


@contextmanager
def quiet_loggers(names: Sequence[str], *, level: int) -> Generator[None]:
    """Let the loggers say nothing below `level`, and give them back their own levels afterwards."""
    loggers = [logging.getLogger(name) for name in names]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(level)
    try:
        yield
    finally:
        for logger, own in zip(loggers, before, strict=True):
            logger.setLevel(own)
