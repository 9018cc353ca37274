"""What the parts left, as one: their panels in one store, their reports in one report, their faults as one error."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from forecast.errors import DataError, SeriesTooShort
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract
from forecast.frames.ledger import Ledger
from forecast.frames.panel_store import open_panel
from forecast.frames.panel_writer import PanelWriter
from forecast.frames.report import Finding, Report
from pipelines.preparation.task import Done

SAID_ONCE = ("ignored_columns", "unused_format", "unused_zone")
"""Findings about the columns of the frame: every part says the same."""

NUMBER = r"(?<![\w.,]){}(?![\w,])"


def write_all(parts: Sequence[Done], folder: Path) -> None:
    """Write the panels of all parts to one store, in memory that their number does not change."""
    with PanelWriter(folder) as writer:
        for part in parts:
            writer.append(open_panel(part.store))


def raise_first_fault(left_out: Mapping[str | int, DataError], *, contract: DataContract, columns: Columns) -> None:
    """Raise the error of the first series at fault; series that the caller's policy drops are at none.

    Raises:
        DataError: there is one; names how many more there are.
    """
    drops = contract.on_short == "drop"
    faults = {name: error for name, error in left_out.items() if not (drops and isinstance(error, SeriesTooShort))}
    if faults:
        ledger = Ledger(tuple(faults), pl.Series([]), columns)
        ledger.faults.update(enumerate(faults.values()))
        raise ledger.first_fault()


def report_of(parts: Sequence[Done], *, shared_table: bool) -> Report:
    """Give the report on the whole frame: counts added up, findings of every series, and those of the frame once.

    Of a second table that is about every series, all parts see all rows: as unused count those of the part that uses
    most, and none where a part uses all.
    """
    reports = [part.report for part in parts]
    return Report(
        num_rows=sum(report.num_rows for report in reports),
        num_series=sum(report.num_series for report in reports),
        num_steps=sum(report.num_steps for report in reports),
        first_stamp=min(parts, key=lambda part: part.span[0]).report.first_stamp,
        last_stamp=max(parts, key=lambda part: part.span[1]).report.last_stamp,
        frequency=reports[0].frequency,
        zone=reports[0].zone,
        findings=tuple(_findings(reports, shared_table=shared_table)),
    )


def _findings(reports: Sequence[Report], *, shared_table: bool) -> Iterator[Finding]:
    found = [finding for report in reports for finding in report.findings]
    of_frame: dict[Finding, list[Finding]] = defaultdict(list)
    for finding in found:
        if finding.series is None:
            of_frame[_without_numbers(finding)].append(finding)
    for alike in of_frame.values():
        if not (shared_table and alike[0].kind == "unused_covariates"):
            yield _summed(alike)
        elif len(alike) == len(reports):
            yield min(alike, key=lambda finding: finding.count)
    of_series = [finding for finding in found if finding.series is not None]
    yield from (finding for finding in of_series if finding.kind != "left_out")
    yield from (finding for finding in of_series if finding.kind == "left_out")


def _without_numbers(finding: Finding) -> Finding:
    """Give what two findings of one kind share."""
    message = _with_count(finding, "#")
    return replace(finding, message=message.partition(", the first at ")[0], count=0, first_stamp=None)


def _summed(findings: Sequence[Finding]) -> Finding:
    first = findings[0]
    if len(findings) == 1 or first.kind in SAID_ONCE:
        return first
    count = sum(finding.count for finding in findings)
    message = _with_count(first, _written(count, first))
    if first.first_stamp is None:
        return replace(first, message=message, count=count)
    earliest = min((str(finding.first_stamp) for finding in findings), key=lambda text: (len(text), text))
    return replace(first, message=message.replace(first.first_stamp, earliest), count=count, first_stamp=earliest)


def _with_count(finding: Finding, text: str) -> str:
    """Give the message with another text where its count stands."""
    return re.sub(NUMBER.format(re.escape(_written(finding.count, finding))), text, finding.message, count=1)


def _written(count: int, finding: Finding) -> str:
    return str(count) if finding.kind == "rounded" else f"{count:,}"
