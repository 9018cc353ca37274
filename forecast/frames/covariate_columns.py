"""Which columns of a frame are covariates, by role, and what their cells say as numbers or codes."""

from collections.abc import Sequence
from typing import Self

import numpy as np
import polars as pl
from jaxtyping import Float64
from pydantic import model_validator

from forecast.config import config
from forecast.errors import ColumnMissing, WrongType
from forecast.frames.covariates import UNKNOWN, Covariate, CovariateSchema


@config
class CovariateColumns:
    """The columns that are known beside the target. Text is a category by itself; booleans are the numbers 0 and 1."""

    past: tuple[str, ...] = ()
    """Known up to now."""

    future: tuple[str, ...] = ()
    """Known ahead: a price, a plan, somebody else's forecast. Given for the horizon too when a forecast is made."""

    static: tuple[str, ...] = ()
    """One value a series, repeated in its rows."""

    categorical: tuple[str, ...] = ()
    """Those of the columns above whose numbers name categories."""

    @model_validator(mode="after")
    def _each_has_one_role(self) -> Self:
        names = self.names
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"a covariate has one role, these are listed more than once: {', '.join(repeated)}")
        if unknown := sorted(set(self.categorical) - set(names)):
            raise ValueError(f"list these as past, future or static too: {', '.join(unknown)}")
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """All covariates: past, future, static."""
        return (*self.past, *self.future, *self.static)


def describe_covariates(
    columns: CovariateColumns, *, cells: dict[str, list[pl.Series]], calendar: Sequence[str]
) -> CovariateSchema:
    """Give what the covariates are, from all cells of each; `calendar` names those that are made from stamps.

    Raises:
        WrongType: a column holds neither numbers nor categories.
    """

    def described(names: Sequence[str]) -> tuple[Covariate, ...]:
        return tuple(_described(name, cells[name], as_category=name in columns.categorical) for name in names)

    return CovariateSchema(
        past=described(columns.past),
        future=described(columns.future),
        calendar=tuple(Covariate(name=name) for name in calendar),
        static=described(columns.static),
    )


def check_present(columns: CovariateColumns, *, present: Sequence[str], frame_columns: Sequence[str]) -> None:
    """Refuse covariates that are in no frame.

    Raises:
        ColumnMissing: names the first column, its role and what there is.
    """
    for role in ("past", "future", "static"):
        for name in getattr(columns, role):
            if name not in present:
                raise ColumnMissing(
                    f"no frame has the {role} covariate {name!r}; the columns are "
                    f"{', '.join(map(repr, frame_columns))}; add it, or take it off covariates.{role}",
                    field=name,
                )


def read_cells(cells: pl.Series, covariate: Covariate) -> Float64[np.ndarray, " row"]:
    """Give the numbers of a column, or the codes of its categories; NaN where a cell is missing.

    Raises:
        WrongType: a number was learnt, and the column holds something else.
    """
    if covariate.kind == "categorical":
        levels = pl.Series(covariate.levels, dtype=pl.String)
        codes = pl.Series(np.arange(1, len(levels) + 1, dtype=np.float64))
        names = level_names(cells)
        coded = names.replace_strict(levels, codes, default=float(UNKNOWN), return_dtype=pl.Float64)
        return np.where(names.is_null().to_numpy(), np.nan, coded.to_numpy())
    if not _are_numbers(cells):
        raise WrongType(
            f"covariate {covariate.name!r} must hold numbers, it holds {cells.dtype} ({len(cells)} rows, the first is "
            f"{cells.drop_nulls().first()!r}); cast it, or list it under covariates.categorical and train anew",
            field=covariate.name,
        )
    if cells.null_count() == len(cells):
        return np.full(len(cells), np.nan)
    return cells.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def level_names(cells: pl.Series) -> pl.Series:
    """Give each cell's category as text; 1 and 1.0 are one category, whatever else its column holds."""
    if not (cells.dtype.is_float() or cells.dtype.is_decimal()):
        return cells.cast(pl.String)
    numbers = cells.cast(pl.Float64) if cells.dtype.is_decimal() else cells.fill_nan(None)
    whole = numbers.cast(pl.Int64, strict=False)
    return whole.cast(pl.String).zip_with((whole == numbers).fill_null(False), numbers.cast(pl.String))


def _described(name: str, cells: list[pl.Series], *, as_category: bool) -> Covariate:
    if not as_category and all(map(_are_numbers, cells)):
        return Covariate(name=name)
    for part in cells:
        if part.dtype.is_temporal() or part.dtype.is_nested():
            raise WrongType(
                f"covariate {name!r} must hold numbers, booleans or categories, it holds {part.dtype} (the first is "
                f"{part.drop_nulls().first()!r}); turn it into one of them first",
                field=name,
            )
    levels = pl.concat([level_names(part).drop_nulls().unique() for part in cells]).unique().sort()
    return Covariate(name=name, kind="categorical", levels=tuple(levels.to_list()))


def _are_numbers(cells: pl.Series) -> bool:
    """Say whether cells can be numbers; a column without one value can, because pandas gives it any type."""
    return cells.dtype.is_numeric() or cells.dtype == pl.Boolean or cells.null_count() == len(cells)
