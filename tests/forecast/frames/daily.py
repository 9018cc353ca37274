"""Daily frames for the tests of the contract, written as days and values by series."""

from datetime import date, timedelta
from typing import Any

FIRST = date(2024, 1, 1)
NAN = float("nan")
SOUND = {"a": ([0, 1, 2], [1.0, 2.0, 3.0]), "b": ([0, 1], [4.0, 5.0])}


def days(*numbers: int) -> list[date]:
    return [FIRST + timedelta(days=number) for number in numbers]


def columns(**series: tuple[list[int], list[float]]) -> dict[str, list[Any]]:
    """Give the columns of a frame: for each series its days and its values."""
    return {
        "unique_id": [name for name, (numbers, _) in series.items() for _ in numbers],
        "ds": [day for numbers, _ in series.values() for day in days(*numbers)],
        "y": [value for _, values in series.values() for value in values],
    }
