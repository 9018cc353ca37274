"""Where what was fetched is kept: data sets and models that can be fetched again."""

import os
import sys
from pathlib import Path


def cache_dir() -> Path:
    """Give the folder that downloads are kept in: `LONGCAST_CACHE_DIR`, else the platform's place for caches."""
    if chosen := os.environ.get("LONGCAST_CACHE_DIR"):
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "longcast" / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "longcast"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "longcast"
