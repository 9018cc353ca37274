"""Read: the configured rows, and what is known beside them, through the data contract."""

import polars as pl

from forecast.frames.contract import OnBadSeries, Prepared
from forecast.frames.covariates import CovariateSchema
from pipelines.config import RunConfig
from pipelines.preparation import prepare_source


def read(config: RunConfig, *, schema: CovariateSchema | None = None, on_bad_series: OnBadSeries = "raise") -> Prepared:
    """Read the configured data; `schema` is what a model has learnt of the covariates, where there is a model.

    Raises:
        SourceError: the rows cannot be read.
        DataError: they break the contract.
    """
    return prepare_source(
        config.source,
        config.contract,
        config.preparation,
        covariates=read_beside(config),
        schema=schema,
        on_bad_series=on_bad_series,
    )


def read_beside(config: RunConfig) -> pl.DataFrame | None:
    """Read the second table, of covariates alone; None where none is configured."""
    return None if config.covariates is None else config.covariates.read()
