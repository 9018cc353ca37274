"""A model is kept together with the configuration of its run, and both come back."""

from pathlib import Path

import pytest

from forecast.artifact import load_artifact
from forecast.errors import ConfigError
from pipelines.flows.keep import CONFIGURATION, keep, kept_configuration
from tests.tiny_model import tiny_artifact
from tests.tiny_run import tiny_config


def test_both_come_back(tmp_path: Path) -> None:
    place = keep(tiny_artifact(), tiny_config(), tmp_path / "model")
    assert kept_configuration(place) == tiny_config()
    assert load_artifact(place).card.name == "tiny"


def test_a_model_may_be_kept_alone_and_then_nothing_older_stays_beside_it(tmp_path: Path) -> None:
    place = keep(tiny_artifact(), tiny_config(), tmp_path / "model")
    assert keep(tiny_artifact(), None, place) == place
    assert kept_configuration(place) is None


def test_a_configuration_of_another_version_is_told_by_what_is_unknown(tmp_path: Path) -> None:
    place = keep(tiny_artifact(), tiny_config(), tmp_path / "model")
    with (place / CONFIGURATION).open("a") as file:
        file.write("spline: {knots: 3}\n")
    with pytest.raises(ConfigError, match="spline: unknown key"):
        kept_configuration(place)
