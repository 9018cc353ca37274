"""The covariates of series that have their steps: every column laid out beside the target, and past its end."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float64, Int64

from forecast.errors import CovariatesMissing, DataError, MissingValues, WrongType
from forecast.frames.beside import Beside
from forecast.frames.covariate_columns import read_cells
from forecast.frames.covariates import UNKNOWN, Covariate, Covariates, CovariateSchema
from forecast.frames.door import Table
from forecast.frames.features import CalendarFeature, calendar_columns
from forecast.frames.gaps import step_groups
from forecast.frames.ledger import Ledger
from forecast.frames.report import Finding
from forecast.frames.rows import stamp_text
from forecast.frames.stepped import Stepped

NAMED = 5
"""Missing pairs of id and time that an error spells out."""

FUTURE_FRAME = "fill in these rows of the future frame (make_future_frame gives the template)"

Laid = Float64[np.ndarray, " row"]


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the steps of each entity lie in its covariates: those of the target, then `horizon` more."""

    stepped: Stepped
    table: Table
    beside: Beside | None
    entities: tuple[str | int, ...]
    """The caller's ids, one for each `num_channels` series."""
    num_channels: int
    horizon: int
    future_fix: str
    """What a caller does about unknown steps of the horizon."""

    @cached_property
    def lengths(self) -> Int64[np.ndarray, " entity"]:
        """Steps of each entity, those of the horizon included."""
        return self.stepped.lengths[:: self.num_channels] + self.horizon

    @cached_property
    def starts(self) -> Int64[np.ndarray, " entity"]:
        """Row of each entity's first step."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def entity(self) -> Int64[np.ndarray, " row"]:
        """The entity of each row laid out."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @cached_property
    def steps(self) -> Int64[np.ndarray, " row"]:
        """The step of each row laid out."""
        return np.arange(len(self.entity)) - self.starts[self.entity]

    @cached_property
    def ahead(self) -> Bool[np.ndarray, " row"]:
        """True past the end of the target."""
        return self.steps >= (self.lengths - self.horizon)[self.entity]

    @cached_property
    def own_rows(self) -> Int64[np.ndarray, " own"]:
        """The rows of `stepped` that stand for an entity: those of its first channel."""
        return np.flatnonzero(self.stepped.rows.group % self.num_channels == 0)

    @cached_property
    def own_numbers(self) -> Int64[np.ndarray, " own"]:
        """The place of these rows in the caller's frame."""
        return self.stepped.rows.numbers[self.own_rows] % len(self.table.times)

    @cached_property
    def own_places(self) -> Int64[np.ndarray, " own"]:
        """Where these rows are laid out."""
        return (
            self.starts[self.stepped.rows.group[self.own_rows] // self.num_channels] + self.stepped.steps[self.own_rows]
        )

    def lay(self, covariate: Covariate) -> Laid:
        """Lay one covariate out; NaN where nothing is known. The series' own rows count before those beside them."""
        laid = np.full(len(self.entity), np.nan)
        if self.beside is not None and (cells := self.beside.table.parts.get(covariate.name)) is not None:
            places = self.starts[self.beside.group // self.num_channels] + self.beside.steps
            laid[places] = read_cells(cells, covariate)[self.beside.numbers]
        if (own := self.table.parts.get(covariate.name)) is not None:
            laid[self.own_places] = read_cells(own, covariate)[self.own_numbers]
        return laid

    def cells(self, covariate: Covariate) -> tuple[Laid, Int64[np.ndarray, " row"], Int64[np.ndarray, " row"]]:
        """Give the cells of a covariate that is told of whole series, each with its series' place and its step.

        They are the series' own where they have the column, else those beside them; either way series by series.
        """
        if (own := self.table.parts.get(covariate.name)) is not None:
            rows = self.own_rows
            cells = read_cells(own, covariate)[self.own_numbers]
            return cells, self.stepped.rows.group[rows], self.stepped.steps[rows]
        assert self.beside is not None, "a covariate is in one of the frames"
        cells = read_cells(self.beside.table.parts[covariate.name], covariate)[self.beside.numbers]
        return cells, self.beside.group, self.beside.steps

    @property
    def group(self) -> Int64[np.ndarray, " row"]:
        """The place in `stepped` of the first series of each row's entity."""
        return self.entity * self.num_channels


def lay_covariates(
    layout: Layout, ledger: Ledger, *, schema: CovariateSchema, calendar: Sequence[CalendarFeature]
) -> Covariates:
    """Lay all covariates out, and put series at fault whose covariates no model can use.

    Raises:
        WrongType: a column holds what its covariate cannot be.
    """
    laid = {covariate.name: layout.lay(covariate) for covariate in (*schema.past, *schema.future)}
    for covariate in (*schema.past, *schema.future):
        _judge(layout, ledger, covariate, laid[covariate.name])
    _refuse_unknown_future(layout, ledger, {covariate.name: laid[covariate.name] for covariate in schema.future})
    made = _calendar_columns(layout, calendar)
    columns = [*laid.values(), *made]
    static = _static(layout, ledger, schema)
    return Covariates(
        schema=schema,
        values=tuple(np.nan_to_num(column, nan=0.0) for column in columns),
        observed=tuple(_known(column) for column in columns),
        starts=np.repeat(layout.starts, layout.num_channels),
        lengths=np.repeat(layout.lengths, layout.num_channels),
        static=np.repeat(np.nan_to_num(static, nan=0.0), layout.num_channels, axis=0),
        static_observed=np.repeat(~np.isnan(static), layout.num_channels, axis=0),
    )


def note_unknown_categories(schema: CovariateSchema, tables: Sequence[Table], ledger: Ledger) -> None:
    """Report cells whose category is not in the vocabulary."""
    for covariate in (*schema.past, *schema.future, *schema.static):
        for cells in (table.parts[covariate.name] for table in tables if covariate.name in table.parts):
            if covariate.kind == "categorical" and (count := int((read_cells(cells, covariate) == UNKNOWN).sum())):
                message = f"column {covariate.name!r} has {count:,} cells with a category that training never saw"
                ledger.findings.append(
                    Finding("unknown_category", message, "read as unknown", count=count, column=covariate.name)
                )


def _known(column: Laid) -> Bool[np.ndarray, " row"] | None:
    known = ~np.isnan(column)
    return None if known.all() else known


def _judge(layout: Layout, ledger: Ledger, covariate: Covariate, laid: Laid) -> None:
    infinite = np.flatnonzero(np.isinf(laid))
    if len(infinite):
        groups = step_groups(layout.stepped, layout.group[infinite], steps=layout.steps[infinite])
        fix = "replace them by real values, or by null where nothing is known"
        ledger.refuse(groups, MissingValues, column=covariate.name, what="infinite values", fix=fix)
    expected = ~layout.ahead
    if covariate.name in layout.table.parts:  # a step without a row is a gap, and reported as such
        expected = np.zeros(len(laid), dtype=bool)
        expected[layout.own_places] = True
    missing = np.flatnonzero(np.isnan(laid) & expected)
    if len(missing):
        groups = step_groups(layout.stepped, layout.group[missing], steps=layout.steps[missing])
        what, action = "missing values of a covariate", "masked as unobserved"
        ledger.note(groups, "covariate_missing", column=covariate.name, what=what, action=action)


def _refuse_unknown_future(layout: Layout, ledger: Ledger, laid: dict[str, Laid]) -> None:
    """Put series at fault that lack a step of the horizon: the message lists the pairs of id and time."""
    if not layout.horizon or not laid:
        return
    unknown = {name: np.isnan(column) & layout.ahead for name, column in laid.items()}
    lacking = np.flatnonzero(np.logical_or.reduce(list(unknown.values())))
    rows = layout.stepped.rows
    if not len(lacking):
        return
    found, firsts = np.unique(layout.entity[lacking], return_index=True)  # rows are laid out entity by entity
    for entity, places in zip(found.tolist(), np.split(lacking, firsts[1:]), strict=True):
        number, name = int(rows.series[rows.starts[entity * layout.num_channels]]), layout.entities[entity]
        stamps = layout.stepped.axis.stamps_at(layout.group[places[:NAMED]], steps=layout.steps[places[:NAMED]])
        columns = [name for name, column in unknown.items() if column[places].any()]
        pairs = ", ".join(f"({name!r}, {stamp_text(stamp)})" for stamp in stamps)
        more = f" and {len(places) - NAMED:,} more" if len(places) > NAMED else ""
        message = (
            f"series {name!r}: {', '.join(map(repr, columns))} must be known for the {layout.horizon} "
            f"steps of the horizon and is not at {len(places):,} of them: {pairs}{more}; {layout.future_fix}"
        )
        ledger.faults.setdefault(number, CovariatesMissing(message, series=str(name), field=columns[0]))


def _calendar_columns(layout: Layout, calendar: Sequence[CalendarFeature]) -> list[Laid]:
    if not calendar:
        return []
    axis = layout.stepped.axis
    moments = axis.moments_at(layout.group, steps=layout.steps)
    return [np.ascontiguousarray(column) for column in calendar_columns(calendar, moments, frequency=axis.frequency).T]


def _static(layout: Layout, ledger: Ledger, schema: CovariateSchema) -> Float64[np.ndarray, "entity static"]:
    columns = [_static_column(layout, ledger, covariate) for covariate in schema.static]
    return np.stack(columns, axis=1) if columns else np.zeros((len(layout.lengths), 0))


def _static_column(layout: Layout, ledger: Ledger, covariate: Covariate) -> Float64[np.ndarray, " entity"]:
    """Give the one value of each entity; entities whose rows disagree are put at fault."""
    cells, group, steps = layout.cells(covariate)

    def refuse(chosen: Bool[np.ndarray, " cell"], error: type[DataError], what: str, fix: str) -> None:
        groups = step_groups(layout.stepped, group[chosen], steps=steps[chosen])
        ledger.refuse(groups, error, column=covariate.name, what=what, fix=fix)

    refuse(np.isinf(cells), MissingValues, "infinite values", "replace them by real values, or by null where unknown")
    entity = group // layout.num_channels
    starts = np.flatnonzero(np.diff(entity, prepend=-1))
    least, most = (np.full(len(layout.entities), np.nan) for _ in range(2))
    least[entity[starts]], most[entity[starts]] = np.fmin.reduceat(cells, starts), np.fmax.reduceat(cells, starts)
    differing = (cells != least[entity]) & ~np.isnan(cells) & (least != most)[entity]
    what = "values that differ from the others of a static covariate"
    fix = "give each series one value in all its rows, or declare it as a past or future covariate"
    refuse(differing, WrongType, what, fix)
    return least
