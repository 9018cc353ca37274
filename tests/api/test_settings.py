"""Settings come by keyword or from the environment, and an open door is refused."""

from pathlib import Path

import pytest

from api.settings import choose_settings, refuse_open_door
from forecast.errors import ConfigError


def test_without_a_word_only_this_machine_is_listened_to() -> None:
    assert choose_settings().host == "127.0.0.1"


def test_keywords_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LONGCAST_PORT", "9001")
    monkeypatch.setenv("LONGCAST_MODEL", "load@champion")

    settings = choose_settings(port=9002)

    assert (settings.port, settings.model) == (9002, "load@champion")


def test_the_registry_is_found_under_mlflows_name_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://mlflow:5000")
    assert choose_settings().tracking_uri == "http://mlflow:5000"

    monkeypatch.setenv("LONGCAST_TRACKING_URI", "sqlite:////models.db")
    assert choose_settings().tracking_uri == "sqlite:////models.db"
    assert choose_settings(tracking_uri="sqlite:////other.db").tracking_uri == "sqlite:////other.db"


@pytest.mark.parametrize(
    ("chosen", "field"),
    [({"prot": 80}, "prot"), ({"port": 70_000}, "port"), ({"cpu_threads": 0}, "cpu_threads"), ({"model": ""}, "model")],
)
def test_a_setting_that_does_not_fit_is_named(chosen: dict[str, object], field: str) -> None:
    with pytest.raises(ConfigError, match=field) as refused:
        choose_settings(**chosen)

    assert refused.value.field == field


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "localhost.example.org", ""])
def test_an_address_that_others_can_reach_is_refused(host: str) -> None:
    with pytest.raises(ConfigError, match="authentication"):
        refuse_open_door(choose_settings(host=host))


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machines_own_addresses_are_taken(host: str) -> None:
    refuse_open_door(choose_settings(host=host))


def test_a_folder_is_a_path() -> None:
    assert choose_settings(artifact="runs/model").artifact == Path("runs/model")
