"""From paths, patterns, folders and URLs to the files meant, each with what its folders' names say of its rows."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import polars as pl

from forecast.errors import SourceError
from pipelines.sources.formats import format_of, reading
from pipelines.sources.secrets import masked, secrets_of

STORES = ("s3", "s3a", "gs", "gcs", "az", "azure", "adl", "abfs", "abfss", "hf")
"""Object stores that polars reads."""

SCHEMES = (*STORES, "http", "https", "file")
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://")
WILDCARD = re.compile(r"[*?\[]")
PARTITION = re.compile(r"([A-Za-z_][A-Za-z0-9_ .-]*)=(.*)")
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""How Hive and Spark name the folder of rows without a value."""

PATH = "\0path"  # no column of a file can be called so


@dataclass(frozen=True)
class Place:
    """One file."""

    address: str
    """A path or a URL."""

    partition: dict[str, str | None] = field(default_factory=dict)
    """What the `name=value` folders on the way to it say, as text."""

    @property
    def is_remote(self) -> bool:
        """Tell whether it lies in an object store or on a web server."""
        return SCHEME.match(self.address) is not None

    @property
    def name(self) -> str:
        """The address as it may be shown."""
        return masked(self.address) if self.is_remote else self.address


def places_of(pattern: str) -> list[Place]:
    """Find the files that a path, pattern, folder or URL means, in alphabetical order.

    Raises:
        SourceError: there is none, or the URL's scheme is of no store that is read here.
    """
    expanded = os.path.expandvars(pattern)
    if SCHEME.match(expanded) is None:
        return _local(Path(expanded).expanduser())
    parts = urlsplit(expanded)
    if parts.scheme == "file":
        return _local(Path(unquote(parts.path)))
    _check_scheme(parts.scheme, expanded)
    if parts.scheme in STORES and WILDCARD.search(expanded):
        return _listed(expanded)
    return [Place(expanded)]


def refuse_secrets(pattern: str) -> None:
    """Refuse a pattern that has a password or a signature written into it.

    Raises:
        ValueError: it has one; the message does not show it.
    """
    if SCHEME.match(pattern) and secrets_of(pattern):
        raise ValueError(
            f"{masked(pattern)!r} carries a password, a signature or another query, which would be kept with every "
            f"run; put the whole URL into an environment variable and write '$ITS_NAME' here, or leave the credentials "
            f"to the store's own settings, for example AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )


def _check_scheme(scheme: str, url: str) -> None:
    if scheme not in SCHEMES:
        raise SourceError(
            f"{masked(url)!r} is of the scheme {scheme!r}; read are {', '.join(SCHEMES)}, and paths", field="paths"
        )
    if scheme in STORES and secrets_of(url):
        raise SourceError(
            f"{masked(url)!r} carries a password, which a store does not look at; set the store's own variables, for "
            f"example AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            field="paths",
        )


def _local(path: Path) -> list[Place]:
    if path.is_file():  # first, because a name may hold brackets
        return [Place(str(path))]
    if path.is_dir():
        found, root = sorted(_in_folder(path)), path
    else:
        matches = glob(str(path), recursive=True)  # noqa: PTH207 - Path.glob takes no absolute pattern
        found, root = [match for match in map(Path, sorted(matches)) if match.is_file()], Path(_fixed(path.as_posix()))
    if not found:
        raise SourceError(
            f"no file is at {str(path)!r}, seen from the folder {str(Path.cwd())!r}; correct the path or pattern",
            field="paths",
        )
    return [Place(str(file), _partition(str(file), root=str(root))) for file in found]


def _in_folder(folder: Path) -> Iterator[Path]:
    """Give the files below a folder, without those that writers of partitioned folders leave beside the data."""
    for file in folder.rglob("*"):
        below = file.relative_to(folder).parts
        if file.is_file() and not any(part.startswith((".", "_")) for part in below):
            yield file


def _listed(pattern: str) -> list[Place]:
    """Ask an object store which files a pattern means."""
    with reading(pattern):
        scanned = format_of(pattern).scan_many(pattern, PATH)
        paths = scanned.select(pl.col(PATH).unique()).collect(engine="streaming").to_series().sort()
    return [Place(path, _partition(path, root=_fixed(pattern))) for path in paths]


def _fixed(pattern: str) -> str:
    """Give the folders of a pattern before its first wildcard."""
    found = WILDCARD.search(pattern)
    return pattern if found is None else pattern[: found.start()].rpartition("/")[0]


def _partition(path: str, *, root: str) -> dict[str, str | None]:
    folders = PurePosixPath(path.removeprefix(root)).parts[:-1]
    found = [match.groups() for match in map(PARTITION.fullmatch, folders) if match is not None]
    return {name: None if value == NO_VALUE else unquote(value) for name, value in found}
