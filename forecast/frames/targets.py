"""The target column: any numeric type to float64, decided once and said; anything else is refused by name."""

import polars as pl

from forecast.errors import WrongType
from forecast.frames.door import Table
from forecast.frames.report import Finding

EXACT = 2**53
"""Integers beyond it do not all have a float64 of their own."""


def read_targets(table: Table) -> tuple[pl.Series, list[Finding]]:
    """Give the targets as Float64, one below the other, missing values null, and what the conversion did.

    Raises:
        WrongType: a column holds no numbers.
    """
    read = [_read(table.parts[name]) for name in table.columns.targets]
    return pl.concat([numbers.alias("") for numbers, _ in read]), [finding for _, found in read for finding in found]


def _read(targets: pl.Series) -> tuple[pl.Series, list[Finding]]:
    dtype = targets.dtype
    if not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
        raise WrongType(
            f"column {targets.name!r} must hold numbers, it holds {dtype} ({len(targets)} rows, "
            f"the first is {targets.drop_nulls().first()!r}); cast it first, or name another column: columns.target",
            field=targets.name,
        )
    return targets.cast(pl.Float64).fill_nan(None), _converted(targets)


def _converted(targets: pl.Series) -> list[Finding]:
    dtype = targets.dtype
    if dtype.is_float() or dtype == pl.Null:
        return []
    what = f"column {targets.name!r} holds {dtype}"
    findings = [Finding("converted", what, "read as float64", count=len(targets), column=targets.name)]
    if dtype.is_integer() and (count := int((targets.cast(pl.Int128).abs() > EXACT).sum())):
        what = f"column {targets.name!r} holds integers beyond 2**53 in {count} rows"
        findings.append(Finding("rounded", what, "read as the nearest float64", count=count, column=targets.name))
    return findings
