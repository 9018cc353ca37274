"""Panels joined to one: series after series, with one vocabulary a category."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
from jaxtyping import Shaped

from forecast.errors import DataError
from forecast.frames.calendar.base import Origins
from forecast.frames.column_type import ColumnType
from forecast.frames.covariates import Covariates, CovariateSchema
from forecast.frames.panel import Channels, Panel
from forecast.frames.time import TimeAxis
from forecast.frames.vocabulary import (
    ROLES,
    Table,
    Vocabulary,
    all_covariates,
    code_table,
    recode,
    recode_static,
    with_levels,
)

KINDS = ("frequency", "type of stamps", "spelling of stamps", "type of ids", "covariates", "channels")
"""What joined panels must share."""

Kinds = tuple[object, ...]
Column = Shaped[np.ndarray, " _"]


def concat_panels(panels: Sequence[Panel]) -> Panel:
    """Join panels of the same frequency, types of ids and stamps, covariates and channels, in the order given.

    Vocabularies are united, their levels sorted where they differ. Weights that are missing are 1.

    Raises:
        DataError: there is no panel, the panels do not fit together, or an id stands in two of them.
    """
    if not panels:
        raise DataError("there is no panel to join; give at least one")
    kinds, met = kinds_of(panels[0]), {}
    for number, panel in enumerate(panels, start=1):
        check_alike(kinds, panel, number=number)
        add_new_ids(panel.ids, met=met)
    return Panel(
        ids=tuple(met),
        values=np.concatenate([panel.values for panel in panels]),
        observed=np.concatenate([panel.observed for panel in panels]),
        offsets=np.concatenate([[0], np.cumsum(np.concatenate([panel.lengths for panel in panels]))]).astype(np.int64),
        axis=_axis([panel.axis for panel in panels]),
        id_type=_common_type([panel.id_type for panel in panels]),
        covariates=_covariates([panel.covariates for panel in panels if panel.covariates is not None]),
        weights=_with_ones([panel.weights for panel in panels], lengths=[len(panel.values) for panel in panels]),
        channels=_channels([panel.channels for panel in panels if panel.channels is not None]),
    )


def kinds_of(panel: Panel) -> Kinds:
    """Give what a panel must share with those that it is joined to, in the order of `KINDS`."""
    stamps = panel.axis.stamp_type
    return (
        panel.axis.frequency.text,
        (stamps.column.dtype, stamps.dtype),
        (stamps.text, stamps.naive),
        panel.id_type.dtype if panel.id_type else pl.Series(panel.ids).dtype,
        None if panel.covariates is None else _roles(panel.covariates.schema),
        None if panel.channels is None else panel.channels.names,
    )


def check_alike(kinds: Kinds, other: Panel, *, number: int) -> None:
    """Refuse a panel that does not fit the first one.

    Raises:
        DataError: says in what it differs.
    """
    for what, one, two in zip(KINDS, kinds, kinds_of(other), strict=True):
        if one != two:
            raise DataError(
                f"panels to be joined must share their {what}: the first has {one}, number {number} has {two}; "
                f"prepare all with the same contract, its frequency given, and the same columns"
            )


def add_new_ids(ids: Iterable[str | int], *, met: dict[str | int, None]) -> None:
    """Add the ids of a panel to those met before.

    Raises:
        DataError: one was met before; names it.
    """
    for name in ids:
        if name in met:
            raise DataError(
                f"series {name!r} stands in two of the panels to be joined; keep all rows of a series in one",
                series=str(name),
            )
        met[name] = None


def num_rows(covariates: Covariates) -> int:
    """Give the number of rows of covariates that have a value a step."""
    return len(covariates.values[0]) if covariates.values else 0


def _roles(schema: CovariateSchema) -> dict[str, list[tuple[str, str]]]:
    return {role: [(covariate.name, covariate.kind) for covariate in getattr(schema, role)] for role in ROLES}


def _common_type(types: Sequence[ColumnType | None]) -> ColumnType | None:
    """Give the type of all columns; the pandas one only where all share it, None where none is given."""
    given = [column for column in types if column is not None]
    if not given:
        return None
    alike = len(given) == len(types) and all(one.pandas == two.pandas for one, two in pairwise(given))
    return given[0] if alike else ColumnType(given[0].dtype)


def _axis(axes: Sequence[TimeAxis]) -> TimeAxis:
    column = _common_type([axis.stamp_type.column for axis in axes])
    assert column is not None, "stamps always have a type"
    origins = [axis.origins for axis in axes]
    return TimeAxis(
        frequency=axes[0].frequency,
        stamp_type=replace(axes[0].stamp_type, column=column),
        origins=Origins(
            np.concatenate([part.places for part in origins]),
            np.concatenate([part.times_of_day for part in origins]),
            np.concatenate([part.month_days for part in origins]),
        ),
    )


def _channels(parts: Sequence[Channels]) -> Channels | None:
    if not parts:
        return None
    return Channels(parts[0].names, tuple(entity for part in parts for entity in part.entities))


def _covariates(parts: Sequence[Covariates]) -> Covariates | None:
    if not parts:
        return None
    schema, tables = _unite([part.schema for part in parts])
    parts = [_recoded(part, own) for part, own in zip(parts, tables, strict=True)]
    rows = [num_rows(part) for part in parts]
    before = np.concatenate([[0], np.cumsum(rows)[:-1]]).astype(np.int64)
    masks = zip(*(part.observed for part in parts), strict=True)
    return Covariates(
        schema=schema,
        values=tuple(np.concatenate(columns) for columns in zip(*(part.values for part in parts), strict=True)),
        observed=tuple(_with_ones(columns, lengths=rows) for columns in masks),
        starts=np.concatenate([part.starts + shift for part, shift in zip(parts, before, strict=True)]),
        lengths=np.concatenate([part.lengths for part in parts]),
        static=np.concatenate([part.static for part in parts]),
        static_observed=np.concatenate([part.static_observed for part in parts]),
    )


def _unite(schemas: Sequence[CovariateSchema]) -> tuple[CovariateSchema, list[list[Table]]]:
    """Give the schema of all, and the table of codes of each covariate of each schema."""
    columns = list(zip(*(all_covariates(schema) for schema in schemas), strict=True))
    vocabularies = [Vocabulary(covariates[0].levels) for covariates in columns]
    for vocabulary, covariates in zip(vocabularies, columns, strict=True):
        for covariate in covariates:
            vocabulary.learn(covariate.levels)
    levels = [vocabulary.united for vocabulary in vocabularies]
    tables = [
        [code_table(covariate.levels, new) for covariate, new in zip(all_covariates(schema), levels, strict=True)]
        for schema in schemas
    ]
    return with_levels(schemas[0], levels), tables


def _recoded(part: Covariates, tables: Sequence[Table]) -> Covariates:
    steps = zip(part.schema.steps, part.values, tables[: len(part.values)], strict=True)
    values = (recode(column, table) if one.kind == "categorical" else column for one, column, table in steps)
    static = recode_static(part.static, part.schema, tables[len(part.values) :])
    return replace(part, values=tuple(values), static=static)


def _with_ones(columns: Sequence[Column | None], *, lengths: Sequence[int]) -> Column | None:
    """Join columns, those that are missing as ones; None where all are missing."""
    given = next((column for column in columns if column is not None), None)
    if given is None:
        return None
    parts = zip(columns, lengths, strict=True)
    return np.concatenate([np.ones(rows, given.dtype) if column is None else column for column, rows in parts])
