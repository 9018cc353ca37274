"""Vocabularies of categories: united over panels, and codes carried from one to another."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float64, Shaped

from forecast.frames.covariates import Covariate, CovariateSchema

ROLES = ("past", "future", "calendar", "static")

Levels = tuple[str, ...]
Table = Float64[np.ndarray, " _"]
"""The new code of each old one."""


class Vocabulary:
    """The levels of one covariate while panel after panel comes: codes in the order of first sight."""

    def __init__(self, levels: Levels):
        self._first = levels
        self._met = dict.fromkeys(levels)
        self._alike = True

    @property
    def met(self) -> Levels:
        """The levels met by now, in order of first sight."""
        return tuple(self._met)

    @property
    def united(self) -> Levels:
        """The levels as all panels have them, or each once and sorted where panels differ."""
        return self._first if self._alike else tuple(sorted(self._met))

    def learn(self, levels: Levels) -> Table:
        """Meet the levels of a panel, and give the code of each in the order of first sight."""
        self._alike &= levels == self._first
        self._met |= dict.fromkeys(levels)
        return code_table(levels, self.met)


def code_table(old: Levels, new: Levels) -> Table:
    """Give the new code of each old one; the unknown stays the unknown."""
    places = {level: float(place) for place, level in enumerate(new, start=1)}
    return np.array([0.0, *(places[level] for level in old)])


def recode(codes: Shaped[np.ndarray, "..."], table: Table) -> Float64[np.ndarray, "..."]:
    """Give the new codes."""
    return table[codes.astype(np.int64)]


def recode_static(
    static: Float64[np.ndarray, "series static"], schema: CovariateSchema, tables: Sequence[Table]
) -> Float64[np.ndarray, "series static"]:
    """Give the static covariates with the new codes of categories, one table a covariate."""
    columns = [
        recode(column, table) if covariate.kind == "categorical" else column
        for covariate, column, table in zip(schema.static, static.T, tables, strict=True)
    ]
    return np.stack(columns, axis=1) if columns else static


def all_covariates(schema: CovariateSchema) -> tuple[Covariate, ...]:
    """Give the covariates that have a value a step, then the static ones."""
    return (*schema.steps, *schema.static)


def with_levels(schema: CovariateSchema, levels: Sequence[Levels]) -> CovariateSchema:
    """Give the schema with these levels, one vocabulary a covariate in the order of `all_covariates`."""
    rest = iter(levels)
    return CovariateSchema(
        **{role: tuple(replace(covariate, levels=next(rest)) for covariate in getattr(schema, role)) for role in ROLES}
    )
