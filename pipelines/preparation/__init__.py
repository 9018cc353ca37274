"""From a source to a panel: a new way is a file here and a name in the union below."""

from typing import Annotated

import polars as pl

from forecast.config import Tagged
from forecast.frames.contract import DataContract, OnBadSeries, Prepared
from forecast.frames.covariates import CovariateSchema
from pipelines.preparation.base import Order
from pipelines.preparation.memory import InMemory
from pipelines.preparation.on_ray import OnRay
from pipelines.preparation.store import InStore
from pipelines.sources.base import SourceContract

Preparation = Annotated[InMemory | InStore | OnRay, Tagged]

__all__ = ["InMemory", "InStore", "OnRay", "Order", "Preparation", "prepare_source"]


def prepare_source(
    source: SourceContract,
    contract: DataContract,
    preparation: Preparation,
    *,
    covariates: pl.DataFrame | None = None,
    schema: CovariateSchema | None = None,
    on_bad_series: OnBadSeries = "raise",
) -> Prepared:
    """Read a source and hold it to the contract in the way configured; every way gives the same.

    `covariates` and `schema` are those of `prepare`.

    Raises:
        SourceError: the rows cannot be read, or the panel cannot be stored.
        DataError: the rows break the contract.
        BackendUnavailable: the way needs a package that is not installed.
    """
    return preparation.prepare(
        Order(source, contract, covariates=covariates, schema=schema, on_bad_series=on_bad_series)
    )
