"""What the contract found in a frame and did about it: a value that prints well and can be written as JSON."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

FindingKind = Literal[
    "clock_change",
    "constant",
    "converted",
    "covariate_missing",
    "duplicates",
    "gaps",
    "ignored_columns",
    "irregular",
    "left_out",
    "missing",
    "reordered",
    "rounded",
    "short",
    "unknown_category",
    "unused_covariates",
    "unused_format",
    "unused_zone",
]

SHOWN = 3
"""Findings of one kind that a print shows in full; the rest are counted."""


@dataclass(frozen=True)
class Finding:
    """One thing found, in one series or (`series` None) in the frame."""

    kind: FindingKind
    message: str
    """What was found, for people."""

    action: str
    """What was done about it."""

    count: int
    """Rows or steps concerned."""

    series: str | int | None = None
    column: str | None = None
    first_stamp: str | None = None
    """The earliest stamp concerned, as the caller writes it."""

    def __str__(self) -> str:
        place = "" if self.series is None else f"series {self.series!r}: "
        return f"{place}{self.message}: {self.action}"


@dataclass(frozen=True)
class Report:
    """What a frame holds once the contract has read it."""

    num_rows: int
    """Rows of the frame as given."""

    num_series: int
    """Series that go on."""

    num_steps: int
    """Steps of these series, unobserved ones included."""

    first_stamp: str
    """The earliest step of any series, as the caller writes it."""

    last_stamp: str
    """The latest step of any series."""

    frequency: str
    """The canonical spelling."""

    zone: str | None
    """The zone in which days are counted."""

    findings: tuple[Finding, ...]

    def of_kind(self, kind: FindingKind) -> tuple[Finding, ...]:
        """Give the findings of one kind."""
        return tuple(finding for finding in self.findings if finding.kind == kind)

    def to_plain(self) -> dict[str, Any]:
        """Give the report as mappings, lists and scalars that JSON can hold."""
        return asdict(self) | {"findings": [asdict(finding) for finding in self.findings]}

    def __str__(self) -> str:
        zone = f" in {self.zone}" if self.zone else ""
        lines = [
            f"{self.num_rows:,} rows, {self.num_series:,} series, {self.num_steps:,} steps of {self.frequency}{zone}, "
            f"{self.first_stamp} to {self.last_stamp}"
        ]
        kinds: dict[FindingKind, None] = dict.fromkeys(finding.kind for finding in self.findings)
        for kind in kinds:
            found = self.of_kind(kind)
            lines += [f"  {kind}: {finding}" for finding in found[:SHOWN]]
            lines += [f"  {kind}: and {len(found) - SHOWN:,} more series"] if len(found) > SHOWN else []
        return "\n".join(lines)
