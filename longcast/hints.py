"""What to type next: commands as they can be typed here, whether or not the environment is activated."""

import sys
from pathlib import Path

from forecast.store import shown, sqlite_file


def compare_runs(tracking_uri: str) -> str:
    """Say how runs are looked at side by side."""
    if sqlite_file(tracking_uri) is None:
        return f"compare runs: {shown(tracking_uri)}"
    return f"compare runs: {program('mlflow')} ui --backend-store-uri {tracking_uri}"


def program(name: str) -> str:
    """Give the path of a program of this environment: as seen from the current folder where it lies below it."""
    path = Path(sys.executable).with_name(name)
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
