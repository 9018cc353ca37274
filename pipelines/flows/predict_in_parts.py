"""Predict in parts: forecast every series of a source of any size, part by part, here or on a cluster."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import torch

from forecast.errors import DataError
from forecast.predictor import ForecastWarning, Predictor, SeriesLeftOut
from forecast.request import Levels
from pipelines.preparation import InStore, OnRay
from pipelines.preparation.in_parts import work_folder
from pipelines.preparation.spool import Part, Spool, fill_spool
from pipelines.sources.base import SourceContract

Told = tuple[type[Warning], str]


@dataclass(frozen=True, eq=False)
class Forecasts:
    """What became of one part."""

    file: Path | None
    """The forecasts of its series; None where none of them can be forecast."""
    told: Sequence[Told]
    """What the caller should hear of."""
    error: DataError | None = None


@dataclass(frozen=True, eq=False)
class PartForecaster:
    """Forecasts the series of one part after the other with one artifact, which each process reads once."""

    artifact: Path
    spool: Spool
    folder: Path
    """Where the forecasts of each part are left, in a file of their own."""
    wanted: Mapping[str, Any]
    """What is asked of the model: frequency, horizon, levels."""

    @cached_property
    def predictor(self) -> Predictor:
        """The model."""
        return Predictor.load(self.artifact)

    def __call__(self, part: Part) -> Forecasts:
        """Forecast one part."""
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # as in a worker of a cluster: how sums are shared out changes their last digits
        try:
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always", ForecastWarning)
                answer = self.predictor.predict(
                    self.spool.read(part), future=self.spool.read_beside(part), **self.wanted
                )
        except DataError as error:
            return Forecasts(None, [(SeriesLeftOut, str(error))], error)
        finally:
            torch.set_num_threads(threads)
        file = self.folder / f"{part.first}-{part.last}.parquet"
        answer.write_parquet(file)
        return Forecasts(file, [(one.category, str(one.message)) for one in heard])


def predict_in_parts(
    source: SourceContract,
    artifact: Path,
    way: InStore | OnRay,
    *,
    future: pl.DataFrame | None = None,
    frequency: str | None = None,
    horizon: int | None = None,
    level: Levels | None = None,
    quantile_levels: Levels | None = None,
) -> pl.DataFrame:
    """Forecast every series of a source with the artifact in a folder, as `Predictor.predict` does, part by part.

    The parts are those of the preparation configured. The same parts give the same numbers to the bit, on a cluster and
    here; memory holds the rows of one part and all forecasts.

    Raises:
        SourceError: the rows cannot be read.
        DataError: no series can be forecast, or the frame breaks the contract as a whole.
        ConfigError: a request that makes no sense.
    """
    wanted = {"frequency": frequency, "horizon": horizon, "level": level, "quantile_levels": quantile_levels}
    columns = Predictor.load(artifact).card.contract.columns
    with work_folder(way.folder.absolute()) as work, way.runner() as run:
        spool = fill_spool(source.chunks(), columns=columns, folder=work / "rows", beside=future)
        (work / "forecasts").mkdir()
        forecaster = PartForecaster(artifact.absolute(), spool, work / "forecasts", wanted)
        done = run(forecaster, spool.parts(way.num_partitions))
        _raise_failure(done)
        forecasts = pl.concat([pl.read_parquet(part.file) for part in done if part.file is not None])
    for category, message in dict.fromkeys(told for part in done for told in part.told):
        warnings.warn(category(message), stacklevel=2)
    return forecasts


def _raise_failure(done: Sequence[Forecasts]) -> None:
    """Raise what stops all: a fault of the whole frame, or of every part's series."""
    errors = [part.error for part in done if part.error is not None]
    whole = [error for error in errors if error.series is None]
    if whole or len(errors) == len(done):
        raise (whole or errors)[0]
