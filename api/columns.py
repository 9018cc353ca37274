"""The columns of a request: lists of JSON become arrays at once, each of one type, and a fault is told by its place."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import polars as pl
from jaxtyping import Float64
from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

T = TypeVar("T")
NONE = type(None)
Numbers = Float64[np.ndarray, " cell"]
Cells = dict[str, pl.Series]
"""Columns of numbers, booleans or texts, by name; null or NaN where a cell is missing."""

MOST_COLUMNS = 500
"""More than any model knows; each costs time, however short it is, and a body can hold millions."""

TYPES: dict[type, type[pl.DataType]] = {int: pl.Int64, bool: pl.Boolean, str: pl.String}

STRANGE = PydanticCustomError("cell_type", "Input should be a number, a boolean, a text or null")
MIXED = PydanticCustomError("mixed_types", "Input should be of the same type as the cells before it")
TOO_MANY = PydanticCustomError("too_many", f"Input should have {MOST_COLUMNS} columns at most")


class Faulty(Exception):
    """A column that cannot be read: where its first fault is, and of what kind; a text is a kind of pydantic's."""

    def __init__(self, kind: str | PydanticCustomError, *place: int):
        super().__init__(str(kind))
        self.kind = kind
        self.place = place


def read_targets(sent: Any) -> Numbers | dict[str, Numbers]:
    """Read the values of one target, a list, or of several, an object with a list each; null becomes NaN.

    Raises:
        ValidationError: something else was sent, or a cell is no finite number; it names the first of each list.
    """
    if isinstance(sent, dict):
        return _read_each(sent, _numbers)
    try:
        return _numbers(sent)
    except Faulty as fault:
        raise _invalid([(fault.place, fault.kind)]) from None


def read_columns(sent: Any) -> Cells:
    """Read an object of columns: of each a list of numbers, of booleans or of texts, with nulls.

    Raises:
        ValidationError: something else was sent; it names the first cell at fault of each list.
    """
    if not isinstance(sent, dict):
        raise _invalid([((), "dict_type")])
    return _read_each(sent, _cells)


def _read_each(sent: dict[str, Any], read: Callable[[Any], T]) -> dict[str, T]:
    if len(sent) > MOST_COLUMNS:
        raise _invalid([((), TOO_MANY)])
    found: dict[str, T] = {}
    faults: list[tuple[tuple[str | int, ...], str | PydanticCustomError]] = []
    for name, cells in sent.items():
        try:
            found[name] = read(cells)
        except Faulty as fault:
            faults.append(((name, *fault.place), fault.kind))
    if faults:
        raise _invalid(faults)
    return found


def _numbers(cells: Any) -> Numbers:
    if strange := _kinds(cells) - {float, int}:
        raise Faulty("float_type", _first(cells, strange))
    return _finite(cells)


def _cells(cells: Any) -> pl.Series:
    kinds = _kinds(cells)
    if strange := kinds - {float, int, bool, str}:
        raise Faulty(STRANGE, _first(cells, strange))
    if mixed := kinds - _alike(cells):
        raise Faulty(MIXED, _first(cells, mixed))
    if kinds <= {float, int} and kinds != {int}:
        return pl.Series(_finite(cells))
    try:
        return pl.Series(cells, dtype=TYPES[kinds.pop()])
    except (OverflowError, TypeError):  # whole numbers that 64 bits do not hold
        return pl.Series(_finite(cells))


def _kinds(cells: Any) -> set[type]:
    if not isinstance(cells, list):
        raise Faulty("list_type")
    return set(map(type, cells)) - {NONE}


def _alike(cells: list[Any]) -> set[type]:
    """Give the types that go with the first cell that is there."""
    first = next((type(cell) for cell in cells if cell is not None), float)
    return {float, int} if first in (float, int) else {first}


def _first(cells: list[Any], kinds: set[type]) -> int:
    return next(place for place, cell in enumerate(cells) if type(cell) in kinds)


def _finite(cells: list[float | None]) -> Numbers:
    try:
        numbers = np.array(cells, dtype=np.float64)
    except OverflowError:  # a whole number of more than 308 digits
        numbers = np.array([_capped(cell) for cell in cells], dtype=np.float64)
    for place in np.flatnonzero(~np.isfinite(numbers)).tolist():
        if cells[place] is not None:
            raise Faulty("finite_number", place)
    return numbers


def _capped(cell: float | None) -> float | None:
    try:
        return None if cell is None else float(cell)
    except OverflowError:
        return float("inf")


def _invalid(faults: list[tuple[tuple[str | int, ...], str | PydanticCustomError]]) -> ValidationError:
    details = [InitErrorDetails(type=kind, loc=place, input=None) for place, kind in faults]
    return ValidationError.from_exception_data("columns", details)
