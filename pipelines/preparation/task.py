"""The work on one part: read its rows, hold them to the contract, store its panel; the same on every machine."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from forecast.errors import DataError, FrequencyError
from forecast.frames.column_type import Kind
from forecast.frames.columns import Columns
from forecast.frames.concat import Kinds, kinds_of
from forecast.frames.contract import DataContract, prepare
from forecast.frames.covariates import CovariateSchema
from forecast.frames.panel import Panel
from forecast.frames.panel_store import write_panel
from forecast.frames.report import Report
from pipelines.preparation.spool import Part, Spool

Runner = Callable[[Callable[[Any], Any], Sequence[Any]], Sequence[Any]]
"""Does the same work on several tasks, here or elsewhere, and gives the results in the order of the tasks."""


@dataclass(frozen=True, eq=False)
class Task:
    """One part, and all that its work needs to know."""

    spool: Spool
    part: Part
    contract: DataContract
    schema: CovariateSchema | None
    folder: Path
    """Where the part's panel is stored, in a folder of its own."""


@dataclass(frozen=True, eq=False)
class Done:
    """A part whose series have a panel."""

    part: Part
    store: Path
    kinds: Kinds
    """What all parts must share, the frequency first."""
    report: Report
    span: tuple[Any, Any]
    """The moments of the earliest and the latest step of any series."""
    left_out: Mapping[str | int, DataError]
    columns: Columns
    like: Kind
    types: Mapping[str, pl.DataType]


@dataclass(frozen=True, eq=False)
class Failed:
    """A part that cannot be judged by itself."""

    part: Part
    error: DataError
    may_be_helped: bool
    """Whether rows of other series can change the verdict: a fault of one series, or a vote of few."""


def prepare_part(task: Task) -> Done | Failed:
    """Prepare one part and store its panel."""
    rows = task.spool.read(task.part)
    try:
        prepared = prepare(
            rows,
            task.contract,
            covariates=task.spool.read_beside(task.part),
            schema=task.schema,
            on_bad_series="leave_out",
        )
    except DataError as error:
        voted = isinstance(error, FrequencyError) or error.field == task.contract.columns.resolve(rows.columns).time
        return Failed(task.part, error, may_be_helped=voted or error.series is not None)
    store = task.folder / f"{task.part.first}-{task.part.last}"
    return Done(
        part=task.part,
        store=write_panel(prepared.panel, store),
        kinds=kinds_of(prepared.panel),
        report=prepared.report,
        span=_span(prepared.panel),
        left_out=prepared.left_out,
        columns=prepared.columns,
        like=prepared.like,
        types=prepared.types,
    )


def run_here(work: Callable[[Any], Any], tasks: Sequence[Any]) -> list[Any]:
    """Do the work in this process, one task after the other."""
    return [work(task) for task in tasks]


def _span(panel: Panel) -> tuple[Any, Any]:
    """Give the first and the last moment in the panel, as numbers or datetimes."""
    series = np.arange(len(panel), dtype=np.int64)
    ends = [panel.axis.moments_at(series, steps=steps) for steps in (series * 0, panel.lengths - 1)]
    return ends[0].min(), ends[1].max()
