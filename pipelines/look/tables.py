"""The tables of a look: findings, series that are left out, all series, covariates."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from forecast.frames.report import Finding
from pipelines.look.markup import Markup, element, joined
from pipelines.look.measure import Look
from pipelines.look.wording import counted, figure, percent

MAX_ROWS = 2000  # of one table: more make a page slow, and nobody reads them


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    holds: Literal["text", "number", "stamp"] = "text"


@dataclass(frozen=True)
class Cell:
    """A figure as people read it, and what it is sorted by."""

    text: str
    value: int | float


def table(columns: Sequence[Column], rows: Iterable[Sequence[str | Cell]], *, caption: str) -> Markup:
    """Give a table that can be sorted by any column."""
    heads = [
        element("th", element("button", column.name, type="button"), scope="col", class_=_class(column))
        for column in columns
    ]
    body = [element("tr", *(_cell(*known) for known in zip(columns, row, strict=True))) for row in rows]
    head = element("thead", element("tr", *heads))
    made = element("table", head, element("tbody", *body), class_="sortable", aria_label=caption)
    return element("div", made, class_="scroll", tabindex="0", role="region", aria_label=caption)


def findings_table(look: Look) -> Markup:
    """List what the contract found, and what it did, kind by kind."""
    findings = [finding for finding in look.prepared.report.findings if finding.kind != "left_out"]
    if not findings:
        return element("p", "The contract found nothing to mend or to tell.")
    columns = [
        Column("kind"),
        Column("series"),
        Column("column"),
        Column("count", holds="number"),
        Column("first stamp", holds="stamp"),
        Column("what was found"),
        Column("what was done"),
    ]
    rows = [_finding(finding) for finding in findings[:MAX_ROWS]]
    return joined([_kinds(findings), table(columns, rows, caption="Findings"), _cut(len(findings), "findings")])


def left_out_table(look: Look) -> Markup:
    """List the series that do not go on, each with the reason."""
    left_out = look.prepared.left_out
    rows = [(str(name), type(error).__name__, str(error)) for name, error in [*left_out.items()][:MAX_ROWS]]
    columns = [Column("series"), Column("error"), Column("reason")]
    return joined([table(columns, rows, caption="Series left out"), _cut(len(left_out), "series")])


def series_table(look: Look) -> Markup:
    """List all series with their figures."""
    names = ("length", "missing", "longest gap", "mean", "std", "lowest", "highest", "zeros")
    columns = [
        Column("series"),
        *(Column(name, holds="number") for name in names),
        Column("constant"),
        Column("start", holds="stamp"),
        Column("end", holds="stamp"),
    ]
    rows = [_series(look, number) for number in range(min(len(look.facts), MAX_ROWS))]
    return joined([table(columns, rows, caption="All series"), _cut(len(look.facts), "series")])


def covariates_table(look: Look) -> Markup:
    """List the covariates with their role and content."""
    columns = [Column("covariate"), Column("role"), Column("kind"), Column("missing", holds="number"), Column("holds")]
    rows = [
        (found.name, found.role, found.kind, Cell(percent(found.missing), found.missing), found.holds)
        for found in look.covariates
    ]
    return table(columns, rows, caption="Covariates")


def _kinds(findings: Sequence[Finding]) -> Markup:
    """Say how much of each kind there is."""
    series = Counter(finding.kind for finding in findings)
    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.kind] += finding.count
    told = [f"{kind}: {counts[kind]:,} in {counted(number, 'place')}" for kind, number in series.items()]
    return element("p", "; ".join(told), ".")


def _finding(finding: Finding) -> tuple[str | Cell, ...]:
    return (
        finding.kind,
        "all" if finding.series is None else str(finding.series),
        finding.column or "",
        Cell(f"{finding.count:,}", finding.count),
        finding.first_stamp or "",
        finding.message,
        finding.action,
    )


def _series(look: Look, number: int) -> tuple[str | Cell, ...]:
    facts = look.facts
    values = [float(figures[number]) for figures in (facts.mean, facts.std, facts.lowest, facts.highest)]
    return (
        str(look.prepared.panel.ids[number]),
        Cell(f"{facts.lengths[number]:,}", int(facts.lengths[number])),
        Cell(percent(float(facts.missing[number])), float(facts.missing[number])),
        Cell(f"{facts.longest_gap[number]:,}", int(facts.longest_gap[number])),
        *(Cell(figure(value), value) for value in values),
        Cell(percent(float(facts.zeros[number])), float(facts.zeros[number])),
        "constant" if facts.constant[number] else "",
        facts.starts[number],
        facts.ends[number],
    )


def _cell(column: Column, content: str | Cell) -> Markup:
    if isinstance(content, str):
        return element("td", content, class_=_class(column))
    place = "-Infinity" if math.isnan(content.value) else repr(content.value)  # as the page's script reads it
    return element("td", content.text, class_=_class(column), data_sort=place)


def _class(column: Column) -> str | None:
    return None if column.holds == "text" else column.holds


def _cut(number: int, what: str) -> Markup:
    return (
        element("p", f"The first {MAX_ROWS:,} of {number:,} {what} are listed.", class_="note")
        if number > MAX_ROWS
        else Markup()
    )
