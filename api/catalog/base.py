"""The contract of a catalog: which models can be asked for, and how one comes here."""

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Self

from forecast.artifact import CARD_FILE
from forecast.compiled import compile_artifact
from forecast.predictor import Predictor


@dataclass(frozen=True)
class Entry:
    """One version of a model, which never changes."""

    name: str
    version: str
    aliases: tuple[str, ...] = ()
    created: datetime | None = None

    @property
    def label(self) -> str:
        """The reference that means this very version."""
        return f"{self.name}/{self.version}"


@dataclass(frozen=True, eq=False)
class Served:
    """A model in memory."""

    entry: Entry
    digest: str
    """SHA-256 of the artifact's card, which holds the one of its weights."""

    predictor: Predictor

    @classmethod
    def load(cls, entry: Entry, folder: Path, *, device: str, compiled: bool = False) -> Self:
        """Read a model into memory, its content checked; `compiled` for single series (`compile_artifact`).

        Raises:
            ArtifactError: the artifact is incomplete, altered or of another format.
            BackendUnavailable: the device is not here, or the model cannot be compiled.
        """
        predictor = Predictor.load(folder, device=device)
        if compiled:
            compile_artifact(predictor.artifact)
        return cls(entry, card_digest(folder), predictor)


class Catalog(ABC):
    """Knows the models that can be asked for. Its methods may block for as long as a network does."""

    @abstractmethod
    def find(self, reference: str) -> Entry:
        """Find the version meant by `name`, `name@alias` or `name/version`.

        Raises:
            ModelNotFound: there is none.
            RegistryError: the catalog cannot be read.
        """

    @abstractmethod
    def find_only(self) -> Entry:
        """Find the one version that can be meant where nobody says which.

        Raises:
            ModelNotFound: there is none, or more than one.
            RegistryError: the catalog cannot be read.
        """

    @abstractmethod
    def entries(self) -> tuple[Entry, ...]:
        """List every version.

        Raises:
            RegistryError: the catalog cannot be read.
        """

    @abstractmethod
    def fetch(self, entry: Entry) -> Path:
        """Bring the artifact of a version here, and give its folder.

        Raises:
            RegistryError: it cannot be reached.
        """


def card_digest(folder: Path) -> str:
    """Give the SHA-256 of an artifact's card."""
    return hashlib.sha256((folder / CARD_FILE).read_bytes()).hexdigest()
