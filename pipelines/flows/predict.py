"""Predict: forecast the configured data, or a file, with a registered model or an artifact on disk."""

from pathlib import Path
from typing import Any

import polars as pl

from forecast.errors import SourceError
from forecast.predictor import Predictor
from forecast.registry import Registry
from forecast.request import Levels
from pipelines.config import RunConfig
from pipelines.flows.predict_in_parts import predict_in_parts
from pipelines.flows.read import read_beside
from pipelines.preparation import InMemory
from pipelines.sources.files import FilesSource

WRITERS = {
    ".csv": pl.DataFrame.write_csv,
    ".parquet": pl.DataFrame.write_parquet,
    ".arrow": pl.DataFrame.write_ipc,
    ".json": pl.DataFrame.write_json,
}


def load_predictor(config: RunConfig, *, reference: str | None = None, device: str = "cpu") -> Predictor:
    """Load the model meant by `name@alias`, `name/version` or the folder of an artifact; by default the champion.

    Raises:
        ModelNotFound: no model stands under the reference.
        ArtifactError: the artifact cannot be read.
    """
    return Predictor.load(_folder(config, reference), device=device)


def _folder(config: RunConfig, reference: str | None) -> Path:
    """Give the folder that holds the artifact of a model, fetched where it is not here yet."""
    if reference is not None and Path(reference).is_dir():
        return Path(reference)
    registry = Registry(config.tracking_uri)
    return Path(registry.download(registry.resolve(reference or config.name)))


def predict(
    config: RunConfig,
    *,
    reference: str | None = None,
    future: str | None = None,
    frequency: str | None = None,
    horizon: int | None = None,
    level: Levels | None = None,
    quantile_levels: Levels | None = None,
) -> pl.DataFrame:
    """Forecast every series of the configured data from its end, in parts where the data are prepared in parts.

    `future` is a path of covariates that are known ahead; those of the configured second table unless given.
    """
    folder = _folder(config, reference)
    ahead = read_beside(config) if future is None else FilesSource(paths=future).read()
    asked: dict[str, Any] = {
        "future": ahead,
        "frequency": frequency,
        "horizon": horizon,
        "level": level,
        "quantile_levels": quantile_levels,
    }
    if isinstance(config.preparation, InMemory):
        return Predictor.load(folder).predict(config.source.read(), **asked)
    return predict_in_parts(config.source, folder, config.preparation, **asked)


def write_frame(frame: pl.DataFrame, file: Path) -> None:
    """Write a frame in the format that the file's name asks for.

    Raises:
        SourceError: the ending is of no known format.
    """
    writer: Any = WRITERS.get(file.suffix.lower())
    if writer is None:
        raise SourceError(f"cannot tell the format of {str(file)!r}; name it with one of {', '.join(WRITERS)}")
    file.parent.mkdir(parents=True, exist_ok=True)
    writer(frame, file)
