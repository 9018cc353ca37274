"""Preparation in parts, through the disk: from a source of any size to one stored panel, whole or not at all."""

import shutil
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from forecast.errors import SourceError
from forecast.frames.contract import Prepared
from forecast.frames.panel_store import open_panel
from forecast.frames.store_files import is_store
from pipelines.preparation.base import Order
from pipelines.preparation.judging import judge_parts
from pipelines.preparation.merging import raise_first_fault, report_of, write_all
from pipelines.preparation.spool import fill_spool
from pipelines.preparation.task import Done, Runner, Task


def prepare_in_parts(order: Order, *, folder: Path, num_partitions: int, run: Runner) -> Prepared:
    """Prepare a source in parts; gives what `prepare` gives for all of its rows, the panel mapped from `folder`.

    Memory holds the ids, a run of the source's rows and the largest part. A store that stands in the folder is replaced
    once the new one is whole; what a run that was killed has left beside it is removed.

    Raises:
        SourceError: the rows cannot be read, the folder holds something else, or another run is writing to it.
        DataError: the rows break the contract.
    """
    place = folder.absolute()
    with work_folder(place) as work:
        parts = _judged(order, work, num_partitions=num_partitions, run=run)
        left_out = {name: error for part in parts for name, error in part.left_out.items()}
        if order.on_bad_series == "raise":
            raise_first_fault(left_out, contract=order.contract, columns=parts[0].columns)
        write_all(parts, work / "panel")
        if place.exists():  # a folder that is not empty cannot be renamed over
            place.rename(work / "replaced")
        (work / "panel").rename(place)
    return Prepared(
        panel=open_panel(place),
        report=report_of(parts, shared_table=not _has_ids(order)),
        left_out=left_out,
        columns=parts[0].columns,
        like=parts[0].like,
        types=parts[0].types,
    )


@contextmanager
def work_folder(folder: Path) -> Generator[Path]:
    """Give a fresh folder beside `folder`, for one run at a time; it is removed at the end.

    Raises:
        SourceError: `folder` holds something that is no store, or another run has its work folder.
    """
    if folder.exists() and not (is_store(folder) or (folder.is_dir() and not any(folder.iterdir()))):
        raise SourceError(f"{str(folder)!r} exists and is no stored panel; name a free folder, or remove it first")
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = folder.with_name(f".{folder.name}.work")
    lock = FileLock(folder.with_name(f".{folder.name}.lock"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise SourceError(
            f"another process is preparing {str(folder)!r}; wait for it, or name another folder"
        ) from None
    try:
        shutil.rmtree(work, ignore_errors=True)  # of a run that was killed: the lock says that it no longer runs
        work.mkdir()
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        lock.release()


def _judged(order: Order, work: Path, *, num_partitions: int, run: Runner) -> Sequence[Done]:
    spool = fill_spool(
        order.source.chunks(), columns=order.contract.columns, folder=work / "rows", beside=order.covariates
    )
    tasks = [
        Task(spool, part, order.contract, schema=order.schema, folder=work / "parts")
        for part in spool.parts(num_partitions)
    ]
    return judge_parts(tasks, run=run)


def _has_ids(order: Order) -> bool:
    """Tell whether the second table, where there is one, says which series each row is about."""
    if order.covariates is None:
        return True
    names = order.covariates.columns
    return order.contract.columns.resolve_keys(names).id in names
