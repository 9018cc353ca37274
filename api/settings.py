"""What a deployment may set: by keyword, or by environment variables named LONGCAST_ and the field's name."""

from ipaddress import ip_address
from pathlib import Path
from typing import Any, Literal

from pydantic import AliasChoices, Field, NonNegativeInt, PositiveFloat, PositiveInt, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from forecast.errors import ConfigError


class Settings(BaseSettings):
    """The service's settings: keywords win over the environment, the defaults serve a local registry's champion."""

    model_config = SettingsConfigDict(
        env_prefix="LONGCAST_", frozen=True, extra="forbid", populate_by_name=True, env_ignore_empty=True
    )

    tracking_uri: str = Field(
        default="sqlite:///runs/mlflow.db",
        validation_alias=AliasChoices("tracking_uri", "LONGCAST_TRACKING_URI", "MLFLOW_TRACKING_URI"),
    )
    """The MLflow registry that models come from."""

    model: str | None = Field(default=None, min_length=1)
    """What answers where a request names no model: `name`, `name@alias`, `name/version`; None for the only champion."""

    artifact: Path | None = None
    """A folder with one saved model, served in place of a registry's."""

    device: str = "cpu"
    """Where models run, as torch names it."""

    cpu_threads: PositiveInt | None = None
    """Threads of one forecast on the CPU; None leaves torch's own choice, one a core."""

    compiled: bool = False
    """Whether the model answers single series of its trained context by code compiled for this processor when it is
    loaded, which takes half a minute and a C++ compiler once a model; the second time it is found in the cache."""

    max_loaded_models: PositiveInt = 4
    """Models kept in memory beside the one that answers by default; the one unused for longest makes room."""

    host: str = "127.0.0.1"
    """Address listened on. Without authentication only this machine's own are accepted."""

    port: NonNegativeInt = Field(default=8000, le=65_535)
    """Port listened on; 0 takes a free one."""

    max_body_mb: PositiveFloat = 16
    """Size of a request's body, in millions of bytes."""

    max_series: PositiveInt = 10_000
    """Series in one request."""

    max_points: PositiveInt = 2_000_000
    """Values in one request, of targets and covariates, past and future, all series together."""

    max_horizon: PositiveInt = 10_000
    """Steps forecast of one series."""

    max_answer_values: PositiveInt = 5_000_000
    """Numbers in one answer: series times targets times steps times one more than quantile levels."""

    first_retry_s: PositiveFloat = 1
    """Seconds before the second try to load the default model; each further wait is twice as long."""

    longest_retry_s: PositiveFloat = 30
    """Seconds that a wait between two tries never exceeds."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"


def choose_settings(**chosen: Any) -> Settings:
    """Build the settings from keywords, then the environment.

    Raises:
        ConfigError: a key is unknown or a value does not fit; names the field.
    """
    try:
        return Settings(**chosen)
    except ValidationError as failure:
        first = failure.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise ConfigError(f"setting {field!r}: {first['msg']}", field=field) from None


def refuse_open_door(settings: Settings) -> None:
    """Let nobody but this machine in as long as nobody is asked who they are.

    Raises:
        ConfigError: the address can be reached from other machines.
    """
    if settings.host != "localhost" and not _is_loopback(settings.host):
        raise ConfigError(
            f"host {settings.host!r} can be reached from other machines and this service has no authentication yet; "
            f"listen on 127.0.0.1 and put a proxy that authenticates in front of it",
            field="host",
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
