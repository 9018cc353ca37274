"""The catalog of one folder: the saved model in it, for a machine without a registry."""

import json
from functools import cached_property
from pathlib import Path

from api.catalog.base import Catalog, Entry, card_digest
from forecast.artifact import CARD_FILE
from forecast.errors import ArtifactError, ModelNotFound

NUM_DIGITS = 12
"""Digits of the digest that tell the version of a folder: enough to tell a person's models apart."""


class FolderCatalog(Catalog):
    """The one model of a folder; its version is the beginning of its digest."""

    def __init__(self, folder: Path):
        self._folder = folder

    def find(self, reference: str) -> Entry:
        if reference not in (self._entry.name, self._entry.label):
            raise ModelNotFound(f"this service answers from one folder, with the model {self._entry.label!r} in it")
        return self._entry

    def find_only(self) -> Entry:
        return self._entry

    def entries(self) -> tuple[Entry, ...]:
        return (self._entry,)

    def fetch(self, entry: Entry) -> Path:
        assert entry == self._entry, "there is no other"
        return self._folder

    @cached_property
    def _entry(self) -> Entry:
        card = self._folder / CARD_FILE
        if not card.is_file():
            raise ArtifactError(
                f"no artifact at {str(self._folder)!r}: no {CARD_FILE} there; give a saved model's folder"
            )
        try:
            name = str(json.loads(card.read_bytes())["name"])
        except (ValueError, KeyError, TypeError) as failure:
            raise ArtifactError(f"{str(card)!r} is no artifact's card: {failure!r}; save the model again") from None
        return Entry(name, card_digest(self._folder)[:NUM_DIGITS])
