"""Keep: a trained model on disk together with the configuration of its run, so that both can be read back."""

from pathlib import Path

import yaml

from forecast.artifact import Artifact, save_artifact
from forecast.config import load_config, to_plain
from pipelines.config import RunConfig

CONFIGURATION = "configuration.yaml"
"""The run's configuration, among the files of its artifact."""


def keep(artifact: Artifact, config: RunConfig | None, folder: str | Path) -> Path:
    """Write an artifact, and its run's configuration, where known, into its folder; what was kept there is replaced.

    Raises:
        ArtifactError: the model cannot be saved, or the folder holds something else.
    """
    place = save_artifact(artifact, folder)
    if config is not None:
        (place / CONFIGURATION).write_text(yaml.safe_dump(to_plain(config), sort_keys=False), encoding="utf-8")
    return place


def kept_configuration(folder: str | Path) -> RunConfig | None:
    """Read the configuration of the run that an artifact came from; None where it was saved without one.

    Raises:
        ConfigError: the file does not say a complete run of this version of the library.
    """
    file = Path(folder) / CONFIGURATION
    return load_config(RunConfig, file) if file.is_file() else None
