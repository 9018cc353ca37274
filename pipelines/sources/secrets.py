"""Passwords and signatures in addresses: refused in configurations, and never shown."""

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, quote, unquote

HIDDEN = "***"
HARMLESS = ("application_name", "connect_timeout", "dbname", "host", "mode", "options", "port", "sslmode", "user")
"""Parameters of a database's address that may be shown; what is not listed may be a secret."""

WEB = ("http", "https")
HOST = re.compile(r"(\[[0-9A-Fa-f:.%]+\]|[^:\[\]@]*)(:\d*)?")
URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(?:\?([^#]*))?(#.*)?", re.DOTALL)


class _Parts(NamedTuple):
    scheme: str
    login: str
    hosts: str
    path: str
    query: str
    fragment: str


def _parts(url: str) -> _Parts:
    """Take an address apart; unlike the standard library's parser it has no error that could show a part of it."""
    found = URL.fullmatch(url)
    return _Parts(*(("",) * 6 if found is None else (part or "" for part in found.groups())))


def secrets_of(url: str) -> tuple[str, ...]:
    """Give the parts of an address that must not be shown, as written and as meant, the longest first."""
    parts = _parts(url)
    user, colon, password = parts.login.partition(":")
    found = {password if colon else user if parts.scheme in WEB else ""}
    found |= {value for name, value in parse_qsl(parts.query) if name not in HARMLESS}
    if parts.scheme in WEB and parts.query:
        found.add(parts.query)
    spellings = {spelling for secret in found for spelling in (secret, unquote(secret), _quoted(secret))}
    return tuple(sorted(spellings - {""}, key=len, reverse=True))


def masked(text: str, *, url: str | None = None) -> str:
    """Give a text without the secrets of an address, by default the text itself being the address."""
    for secret in secrets_of(text if url is None else url):
        text = text.replace(secret, HIDDEN)
    return text


def checked_database(uri: str) -> str:
    """Give a database's address with every special character of its user and password spelt in percents.

    Raises:
        ValueError: it cannot be told where the password ends; nothing of the address is in the message.
    """
    parts = _parts(uri)
    elsewhere = f"{parts.login}{parts.path}{parts.query}{parts.fragment}"
    if "@" in elsewhere or parts.fragment or not all(HOST.fullmatch(host) for host in parts.hosts.split(",")):
        raise ValueError(
            "the address cannot be taken apart: it must read postgresql://user:password@host:port/database, and in the "
            "user and the password the characters @ : / ? # % must be spelt %40 %3A %2F %3F %23 %25"
        )
    user, colon, password = parts.login.partition(":")
    login = f"{_quoted(user)}{colon}{_quoted(password)}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{login}{'@' if login else ''}{parts.hosts}{parts.path}{query}"


def _quoted(text: str) -> str:
    return quote(unquote(text), safe="")
