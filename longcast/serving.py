"""The service that a run configuration asks for: the champion under its name, in its tracking store."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from forecast.config import load_config
from forecast.errors import ConfigError
from pipelines.config import RunConfig


def served(config: Path | None, overrides: Sequence[str], *, reference: str | None) -> dict[str, Any]:
    """Give the settings of the service; what neither configuration nor reference says is the environment's to say.

    `reference` is `name@alias`, `name/version` or the folder of an artifact.

    Raises:
        ConfigError: the configuration is not a complete run, or there are overrides and nothing to change.
    """
    if config is None and overrides:
        raise ConfigError("--set changes a configuration, and none was given; write its path after `longcast serve`")
    if reference is not None and Path(reference).is_dir():
        return {"artifact": Path(reference)}
    run = None if config is None else load_config(RunConfig, config, overrides=overrides)
    chosen: dict[str, Any] = {} if run is None else {"tracking_uri": run.tracking_uri, "model": run.name}
    return chosen if reference is None else {**chosen, "model": reference}
