"""Which Longcast this is: its version, and the commit where it runs from a checkout."""

import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from forecast.errors import BackendUnavailable

CHECKOUT = Path(__file__).parents[1]


@cache
def library_version() -> str:
    """Give the version of the installed distribution.

    Raises:
        BackendUnavailable: the packages are on the path but the distribution is not installed.
    """
    try:
        return version("longcast")
    except PackageNotFoundError:
        raise BackendUnavailable(
            "the packages of longcast are importable but it is not installed, so its version is unknown; "
            "install it (in a checkout: pip install -e .)"
        ) from None


@cache
def git_sha() -> str | None:
    """Give the commit of the checkout the library runs from; None where it is installed, or git cannot say."""
    if not (CHECKOUT / ".git").exists():  # else git would look further up and name a repository of somebody else's
        return None
    try:
        asked = subprocess.run(
            ["git", "-C", str(CHECKOUT), "rev-parse", "--verify", "HEAD"],
            check=False,
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() or None
