"""Which model versions there are, which is champion, and how one comes here: the library's only words with MLflow."""

import os
import shutil
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from forecast.artifact import CARD_FILE
from forecast.cache import cache_dir
from forecast.errors import ModelNotFound, RegistryError
from forecast.store import check_store, shown

CHAMPION = "champion"
"""The alias of the version that serves; a model's name alone means it."""

ABSENT = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")  # the second: a name that no model could have

MAX_DIGITS = 9  # of a version number; stores keep it in 32 bits

NAMED = 10  # versions that an error lists

ARTIFACT = "artifact"
"""Under which name the artifact's folder lies among the artifacts of a logged model."""


@dataclass(frozen=True)
class ModelVersion:
    """One version of a registered model."""

    name: str
    version: int
    model_id: str
    """Unlike any other's in any store; version numbers begin anew in every store."""

    run_id: str | None
    """The run that trained it."""

    aliases: tuple[str, ...]
    tags: Mapping[str, str]
    created: datetime
    """In UTC."""

    @property
    def reference(self) -> str:
        """The text that `Registry.resolve` takes for this very version."""
        return f"{self.name}/{self.version}"


@dataclass(frozen=True)
class Registry:
    """The models registered at a tracking URI. Opens it at the first question, not before."""

    uri: str

    def resolve(self, reference: str) -> ModelVersion:
        """Find the version meant by `name/3` or `name@alias`; a name alone means its champion.

        Raises:
            ModelNotFound: there is no such model, alias or version; says which there are.
            RegistryError: the registry cannot be read.
        """
        name, slash, number = reference.partition("/")
        if slash:
            return self._version(name, number)
        name, _, alias = reference.partition("@")
        return self._version(name, self._aliased(name, alias or CHAMPION))

    def models(self) -> tuple[ModelVersion, ...]:
        """List every version of every model: models by name, the newest version first."""
        with self._explained("no models"):
            found = list(_pages(self._client.search_model_versions))
            models = list(_pages(self._client.search_registered_models))
        aliases = {model.name: model.aliases for model in models}  # a search leaves the versions' own empty
        versions = (_version(version, aliases.get(version.name, {})) for version in found)
        return tuple(sorted(versions, key=lambda version: (version.name, -version.version)))

    def download(self, version: ModelVersion, *, cache: Path | None = None) -> Path:
        """Bring the version's artifact here and give its folder; what came before is not fetched again.

        `load_artifact` checks the content. `cache` is a folder for artifacts; None takes the library's own.

        Raises:
            RegistryError: the files cannot be reached, or the version holds no artifact of this library.
        """
        target = (cache or cache_dir() / "models") / version.model_id
        if not target.is_dir():
            self._fetch(version, target)
        return target

    def set_alias(self, version: ModelVersion, alias: str) -> None:
        """Move an alias to a version, away from the one that has it."""
        with self._explained(f"no version {version.reference}"):
            self._client.set_registered_model_alias(version.name, alias, str(version.version))

    def set_tags(self, version: ModelVersion, tags: Mapping[str, str]) -> None:
        """Write tags on a version, beside those that it has."""
        with self._explained(f"no version {version.reference}"):
            for key, value in tags.items():
                self._client.set_model_version_tag(version.name, str(version.version), key, value)

    @cached_property
    def _client(self) -> Any:
        check_store(self.uri)
        from mlflow import MlflowClient

        return MlflowClient(tracking_uri=self.uri, registry_uri=self.uri)

    def _aliased(self, name: str, alias: str) -> str:
        with self._explained(f"no model {name!r}"):
            aliases = self._client.get_registered_model(name).aliases
        if alias not in aliases:
            known = ", ".join(f"{known} (version {version})" for known, version in aliases.items()) or "no aliases"
            raise ModelNotFound(
                f"model {name!r} has no {alias!r}; it has {known}; promote a version, or name one: {name}/1",
                field="model",
            )
        return str(aliases[alias])

    def _version(self, name: str, number: str) -> ModelVersion:
        if not number.isdecimal() or len(number) > MAX_DIGITS:
            raise ModelNotFound(
                f"{name}/{number} names no version: write the number after the slash, or @alias", field="model"
            )
        with self._explained(f"no version {number} of a model {name!r}"):
            found = self._client.get_model_version(name, number)
            return _version(found, self._client.get_registered_model(name).aliases)

    def _fetch(self, version: ModelVersion, target: Path) -> None:
        from mlflow.artifacts import download_artifacts

        os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")  # a service has nobody to show it to
        absent = f"{version.reference} holds no artifact of this library; train it with longcast"
        arriving = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        try:
            with self._explained(absent):
                root = self._client.get_model_version_download_uri(version.name, str(version.version))
                place = download_artifacts(
                    f"{root}/artifacts/{ARTIFACT}", dst_path=str(arriving), tracking_uri=self.uri
                )
            if not (Path(place) / CARD_FILE).is_file():
                raise RegistryError(absent)
            with suppress(FileExistsError):  # somebody else was faster, and has put the same there
                Path(place).rename(target)
        finally:
            shutil.rmtree(arriving, ignore_errors=True)

    @contextmanager
    def _explained(self, absent: str) -> Generator[None]:
        """Turn what MLflow says into our errors; `absent` says what it is that is not there."""
        from mlflow.exceptions import MlflowException

        try:
            yield
        except MlflowException as failure:
            if failure.error_code in ABSENT:
                raise ModelNotFound(f"{absent}; {self._known()}", field="model") from None
            reason = str(failure).splitlines()[0]
            raise RegistryError(f"the registry at {shown(self.uri)!r} does not answer: {reason}") from failure

    def _known(self) -> str:
        known = [version.reference for version in self.models()]
        more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
        return f"there are {', '.join(known[:NAMED])}{more}" if known else "there is none: train one first"


def _pages(search: Callable[..., Any]) -> Iterator[Any]:
    """Give everything that a search finds, page by page."""
    page = search()
    yield from page
    while page.token:
        page = search(page_token=page.token)
        yield from page


def _version(found: Any, aliases: Mapping[str, str | int]) -> ModelVersion:
    """Read MLflow's entity; the id of the logged model stands in its source, `models:/m-...`."""
    prefix, _, model_id = str(found.source).rpartition("/")
    return ModelVersion(
        name=found.name,
        version=int(found.version),
        model_id=model_id if prefix == "models:" else f"{found.name}-{found.version}-{found.creation_timestamp}",
        run_id=found.run_id or None,
        aliases=tuple(alias for alias, version in aliases.items() if int(version) == int(found.version)),
        tags=dict(found.tags),
        created=datetime.fromtimestamp(found.creation_timestamp / 1000, tz=UTC),
    )
