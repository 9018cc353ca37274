"""The catalog of a registry: every version registered there."""

from pathlib import Path

from api.catalog.base import Catalog, Entry
from forecast.errors import ModelNotFound
from forecast.registry import CHAMPION, ModelVersion, Registry


class RegistryCatalog(Catalog):
    """Models of an MLflow registry."""

    def __init__(self, uri: str):
        self._registry = Registry(uri)

    def find(self, reference: str) -> Entry:
        return _entry(self._registry.resolve(reference))

    def find_only(self) -> Entry:
        champions = [version for version in self._registry.models() if CHAMPION in version.aliases]
        if len(champions) == 1:
            return _entry(champions[0])
        names = ", ".join(version.name for version in champions) or "none"
        raise ModelNotFound(
            f"one champion is needed to answer where no model is named, and there are: {names}; "
            f"promote a model, or name the one to serve (LONGCAST_MODEL)",
            field="model",
        )

    def entries(self) -> tuple[Entry, ...]:
        return tuple(map(_entry, self._registry.models()))

    def fetch(self, entry: Entry) -> Path:
        return self._registry.download(self._registry.resolve(entry.label))


def _entry(version: ModelVersion) -> Entry:
    return Entry(version.name, str(version.version), aliases=version.aliases, created=version.created)
