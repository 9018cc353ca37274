"""What every way of preparing data gives: a panel, and what was found on the way."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import polars as pl

from forecast.frames.contract import DataContract, OnBadSeries, Prepared
from forecast.frames.covariates import CovariateSchema
from pipelines.sources.base import SourceContract


@dataclass(frozen=True, eq=False)
class Order:
    """What is to be prepared, and by which rules."""

    source: SourceContract
    contract: DataContract

    covariates: pl.DataFrame | None = None
    """A second table, of covariates."""

    schema: CovariateSchema | None = None
    """What a model has learnt of the covariates; it is read from the rows where there is none."""

    on_bad_series: OnBadSeries = "raise"


class PreparationContract(ABC):
    """A way from a source to a panel; all ways give the same series, values and report."""

    @abstractmethod
    def prepare(self, order: Order) -> Prepared:
        """Read the source and hold it to the contract.

        Raises:
            SourceError: the rows cannot be read, or the panel cannot be stored.
            DataError: the rows break the contract.
        """
