"""The files of a stored panel, read: arrays mapped into memory, the head and the names from JSON, each one checked."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from forecast.config import build_config
from forecast.errors import ConfigError, SourceError
from forecast.frames.calendar.base import Origins
from forecast.frames.covariates import Covariates
from forecast.frames.frequency import Frequency
from forecast.frames.panel import Channels, Panel
from forecast.frames.store_head import FORMAT_VERSION, HEAD_FILE, NAMES_FILE, PanelHead, StoredArray
from forecast.frames.time import TimeAxis

AGAIN = "write the store again from its source, or copy it again, whole"


class StoredColumn(np.ndarray):
    """An array mapped from a file; a whole one is pickled as its place, so that a worker maps the same pages."""

    file: Path | None = None

    def __reduce__(self) -> Any:
        return super().__reduce__() if self.file is None else (map_column, (self.file,))


def map_column(file: Path) -> StoredColumn:
    """Map a `.npy` file, read-only; its pages are read when they are used, and shared by all processes."""
    column = np.load(file, mmap_mode="r", allow_pickle=False).view(StoredColumn)
    column.file = file
    return column


def is_store(folder: Path) -> bool:
    """Tell whether a folder holds a stored panel."""
    return (folder / HEAD_FILE).is_file()


def read_head(folder: Path) -> PanelHead:
    """Read what a store says of itself.

    Raises:
        SourceError: there is none, or it is damaged or of another format.
    """
    file = folder / HEAD_FILE
    if not file.is_file():
        raise SourceError(f"no stored panel at {str(folder)!r}: no {HEAD_FILE} there; give the folder of one")
    plain = _read_json(file)
    if plain.get("format_version") != FORMAT_VERSION:
        raise SourceError(
            f"{str(file)!r} is of format {plain.get('format_version')!r} and this library reads format "
            f"{FORMAT_VERSION}; {AGAIN}"
        )
    try:
        return build_config(PanelHead, plain)
    except ConfigError as failure:
        raise SourceError(f"{str(file)!r} does not describe a panel: {failure}; {AGAIN}") from None


def build_panel(head: PanelHead, folder: Path) -> Panel:
    """Put a panel together from its head and its files, whose sizes are checked.

    Raises:
        SourceError: a file is missing, cut short or another's.
    """
    names = _read_names(folder, head)

    def column(name: str) -> StoredColumn:
        return _map_checked(folder / f"{name}.npy", head.arrays.get(name))

    return Panel(
        ids=tuple(names["ids"]),
        values=column("values"),
        observed=column("observed"),
        offsets=column("offsets"),
        axis=_axis(head, column),
        id_type=None if head.id_type is None else head.id_type.build(),
        covariates=_covariates(head, column),
        weights=column("weights") if "weights" in head.arrays else None,
        channels=None if head.channels is None else Channels(head.channels, tuple(names["entities"])),
    )


def value_name(number: int) -> str:
    """Name the array of a covariate's values."""
    return f"covariate_{number}"


def mask_name(number: int) -> str:
    """Name the array that says which of a covariate's values are known."""
    return f"covariate_{number}_observed"


def _axis(head: PanelHead, column: Callable[[str], StoredColumn]) -> TimeAxis:
    return TimeAxis(
        frequency=Frequency.parse(head.frequency),
        stamp_type=head.stamps.build(),
        origins=Origins(column("places"), column("times_of_day"), column("month_days")),
    )


def _covariates(head: PanelHead, column: Callable[[str], StoredColumn]) -> Covariates | None:
    if head.covariates is None:
        return None
    numbers = range(len(head.covariates.steps))
    return Covariates(
        schema=head.covariates,
        values=tuple(column(value_name(number)) for number in numbers),
        observed=tuple(column(mask_name(number)) if mask_name(number) in head.arrays else None for number in numbers),
        starts=column("covariate_starts"),
        lengths=column("covariate_lengths"),
        static=column("static"),
        static_observed=column("static_observed"),
    )


def _read_names(folder: Path, head: PanelHead) -> dict[str, list[Any]]:
    file = folder / NAMES_FILE
    _check_size(file, head.names_bytes)
    return _read_json(file)


def _map_checked(file: Path, promised: StoredArray | None) -> StoredColumn:
    if promised is None:
        raise SourceError(f"{HEAD_FILE} in {str(file.parent)!r} does not list {file.name}; {AGAIN}")
    _check_size(file, promised.num_bytes)
    try:
        column = map_column(file)
    except ValueError as failure:
        raise SourceError(f"{str(file)!r} is not a .npy file: {failure}; {AGAIN}") from None
    if (column.dtype.str, column.shape) != (promised.dtype, promised.shape):
        raise SourceError(
            f"{str(file)!r} holds {column.dtype.str} of shape {column.shape}, and {HEAD_FILE} promises "
            f"{promised.dtype} of shape {promised.shape}; {AGAIN}"
        )
    return column


def _check_size(file: Path, num_bytes: int) -> None:
    if not file.is_file():
        raise SourceError(f"the stored panel at {str(file.parent)!r} lacks {file.name}; {AGAIN}")
    found = file.stat().st_size
    if found != num_bytes:
        raise SourceError(
            f"{str(file)!r} is {found:,} bytes and was written with {num_bytes:,}: it was cut short or is another "
            f"store's; {AGAIN}"
        )


def _read_json(file: Path) -> dict[str, Any]:
    try:
        plain = json.loads(file.read_bytes())
    except ValueError as failure:
        raise SourceError(f"{str(file)!r} is not JSON: {failure}; {AGAIN}") from None
    if not isinstance(plain, dict):
        raise SourceError(f"{str(file)!r} must hold one JSON object, it holds {type(plain).__name__}; {AGAIN}")
    return plain
