"""The address of a tracking store: what it names, how it is shown, and whether a file that it names is a store."""

import re
from pathlib import Path

from forecast.errors import RegistryError

SQLITE = "sqlite:///"
SQLITE_HEADER = b"SQLite format 3\x00"


def sqlite_file(uri: str) -> Path | None:
    """Give the file that an SQLite address names; None where the address is another kind's.

    Raises:
        RegistryError: the address names a store in memory, which nobody else could read.
    """
    if not uri.startswith("sqlite:"):
        return None
    path = uri.removeprefix(SQLITE).partition("?")[0]
    if not uri.startswith(SQLITE) or path in ("", ":memory:"):
        raise RegistryError(f"{uri!r} names no file; write sqlite:///relative.db or sqlite:////absolute.db")
    return Path(path).absolute()


def shown(uri: str) -> str:
    """Give the address without the user and password that it may hold."""
    return re.sub(r"//[^/@]+@", "//***@", uri)


def check_store(uri: str) -> None:
    """Refuse an SQLite address whose file is not there or is something else; MLflow would make it, or try for minutes.

    Raises:
        RegistryError: there is no store at the address.
    """
    file = sqlite_file(uri)
    if file is None:
        return
    if not file.is_file():
        raise RegistryError(
            f"no store at {shown(uri)!r}: there is no file {str(file)!r}; train a model first, or correct it"
        )
    with file.open("rb") as content:
        if content.read(len(SQLITE_HEADER)) != SQLITE_HEADER:
            raise RegistryError(f"{str(file)!r} is not an SQLite file; correct the tracking URI {shown(uri)!r}")
