"""The service that a run configuration asks for: the champion under its name, in its tracking store."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forecast.config import load_config
from pipelines.config import RunConfig


def served(config: Path, overrides: Sequence[str]) -> dict[str, Any]:
    """Give the settings of the service for a run configuration."""
    run = load_config(RunConfig, config, overrides=overrides)
    return {"tracking_uri": run.tracking_uri, "model": run.name}
