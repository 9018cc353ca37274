"""Covariates: what a model is told beside the target, declared by name and role, held in one array a column."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
from jaxtyping import Bool, Float64, Int64
from pydantic import model_validator

from forecast.config import config

UNKNOWN = 0
"""The code of a category that training never saw, and of a missing one; level `k` of a vocabulary has code `k + 1`."""


@config
class Covariate:
    """One covariate as a model knows it."""

    name: str

    kind: Literal["numeric", "categorical"] = "numeric"
    """Booleans are numbers: 0 and 1."""

    levels: tuple[str, ...] = ()
    """The vocabulary of a category, frozen in training; empty for numbers."""

    @property
    def num_codes(self) -> int:
        """Number of codes that a category can have, the unknown one included."""
        return len(self.levels) + 1


@config
class CovariateSchema:
    """All covariates of a model, by role, in the order of the arrays that hold them."""

    past: tuple[Covariate, ...] = ()
    """Known up to the newest step only."""

    future: tuple[Covariate, ...] = ()
    """Known ahead, and given with the series."""

    calendar: tuple[Covariate, ...] = ()
    """Known ahead, and made from the stamps."""

    static: tuple[Covariate, ...] = ()
    """One value a series."""

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        names = [covariate.name for covariate in (*self.steps, *self.static)]
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"a covariate has one role, these have several: {', '.join(map(repr, repeated))}")
        return self

    @property
    def steps(self) -> tuple[Covariate, ...]:
        """The covariates that have a value a step: past, future, calendar."""
        return (*self.past, *self.future, *self.calendar)

    def __bool__(self) -> bool:
        """Tell whether there is any covariate."""
        return bool(self.steps or self.static)


@dataclass(frozen=True, eq=False)
class Covariates:
    """The covariates of a panel's series. Arrays are read-only; they hold numbers, or the codes of categories.

    Series `k` has rows `starts[k]:starts[k] + lengths[k]`, the first one beside the first step of its target. Future
    covariates may be known past the end of the target: then `lengths` is larger than the target's. Several series (the
    channels of one entity) may share rows. Unobserved values are 0.
    """

    schema: CovariateSchema

    values: tuple[Float64[np.ndarray, " row"], ...]
    """One array a covariate of `schema.steps`."""

    observed: tuple[Bool[np.ndarray, " row"] | None, ...]
    """True where a value is known; None where all are."""

    starts: Int64[np.ndarray, " series"]
    lengths: Int64[np.ndarray, " series"]

    static: Float64[np.ndarray, "series static"]
    static_observed: Bool[np.ndarray, "series static"]

    def __post_init__(self) -> None:
        for array in (*self.values, *self.observed, self.starts, self.lengths, self.static, self.static_observed):
            if array is not None:
                array.flags.writeable = False

    def select(self, numbers: Sequence[int]) -> Self:
        """Give the covariates of the chosen series, in the order asked for; the rows stay where they are."""
        chosen = np.asarray(numbers, dtype=np.int64)
        return replace(
            self,
            starts=self.starts[chosen],
            lengths=self.lengths[chosen],
            static=self.static[chosen],
            static_observed=self.static_observed[chosen],
        )
