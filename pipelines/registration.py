"""From a trained model to a registered version that has been read back and tried, and to champion or not."""

import contextlib
import io
import tempfile
import warnings
from collections.abc import Sequence
from importlib.metadata import version as installed
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import polars as pl
from mlflow.models import ModelSignature
from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema

from forecast.artifact import Artifact, save_artifact
from forecast.card import Card
from forecast.config import to_plain
from forecast.errors import RegistryError
from forecast.frames.answer import TARGET_NAME, quantile_name
from forecast.predictor import Predictor
from forecast.registry import ARTIFACT, CHAMPION, ModelVersion, Registry
from pipelines.tracking import TrackedRun

CODE = Path(__file__).with_name("pyfunc_model.py")

REQUIREMENTS = ("longcast", "mlflow", "numpy", "pandas", "polars", "safetensors", "torch")
"""Packages that decide what a forecast is; written down by hand, because MLflow finds them out by running the model."""

CLOSE = 1e-5  # relative: what a forecast may differ by between machines


def register(run: TrackedRun, artifact: Artifact, *, sample: pl.DataFrame) -> ModelVersion:
    """Log the model on an open run, read it back and try it, and only then register it; moves no alias.

    `sample` is a long frame such as the model will be sent: some steps of some series, under the card's column names,
    and behind them rows without a target where covariates are known ahead.

    Raises:
        RegistryError: what came back does not forecast as the model does; nothing was registered.
    """
    model_uri = _log(artifact, sample=sample)
    _try(model_uri, artifact, sample=sample)
    with contextlib.redirect_stderr(io.StringIO()):  # MLflow prints that it went well; what goes wrong it raises
        registered = mlflow.register_model(model_uri, artifact.card.name)
    return Registry(run.uri).resolve(f"{registered.name}/{registered.version}")


def promote(registry: Registry, version: ModelVersion, *, reasons: Sequence[str]) -> None:
    """Make a version champion, and write on it why."""
    registry.set_tags(version, {"decision": "promoted", "reasons": "\n".join(reasons)})
    registry.set_alias(version, CHAMPION)


def decline(registry: Registry, version: ModelVersion, *, reasons: Sequence[str]) -> None:
    """Leave the champion as it is, and write on the version why."""
    registry.set_tags(version, {"decision": "declined", "reasons": "\n".join(reasons)})


def signature_of(card: Card, sample: pl.DataFrame) -> ModelSignature:
    """Describe the frames that go in and out, in the types of the training frame.

    MLflow takes no zone-aware column, so stamps with a zone travel as ISO 8601 text with their offset; and it turns no
    whole numbers into fractions, so a target that was whole in training must come whole.
    """
    columns = card.contract.columns
    time = ColSpec(_time_type(card), columns.time)
    identity = ColSpec(_type(sample, columns.id), columns.id, required=columns.id in sample.columns)
    keys = [identity, time] if not card.channels else [identity, time, ColSpec(DataType.string, TARGET_NAME)]
    others = [name for name in sample.columns if name not in (columns.id, columns.time)]
    points = ["mean", *map(quantile_name, card.quantile_levels)]
    parameters = [ParamSpec("horizon", DataType.long, default=card.horizon)]
    if card.quantile_levels:
        levels = ParamSpec("quantile_levels", DataType.double, default=list(card.quantile_levels), shape=(-1,))
        parameters.append(levels)
    return ModelSignature(
        inputs=Schema([identity, time, *(ColSpec(_type(sample, name), name) for name in others)]),
        outputs=Schema([*keys, *(ColSpec(DataType.double, name) for name in points)]),
        params=ParamSchema(parameters),
    )


def requirements() -> list[str]:
    """Pin what the model needs, without the build of torch (+cpu, +cu130): each machine takes its own."""
    return [f"{name}=={installed(name).partition('+')[0]}" for name in REQUIREMENTS]


def _time_type(card: Card) -> DataType:
    match card.time.kind:
        case "integer":
            return DataType.long
        case "datetime" | "date" if card.time.zone is None:
            return DataType.datetime
        case _:
            return DataType.string


def _type(sample: pl.DataFrame, name: str) -> DataType:
    dtype = sample.schema.get(name, pl.String())  # a frame without an id column is one series, whose id is text
    if dtype.is_integer() and not sample[name].null_count():  # with a gap in it pandas makes it fractions
        return DataType.long
    return DataType.double if dtype.is_numeric() else DataType.string


def _log(artifact: Artifact, *, sample: pl.DataFrame) -> str:
    """Log the model and give its URI."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        # An example in the model would be the caller's own data; instead of MLflow's trial with it there is `_try`.
        warnings.filterwarnings("ignore", ".*An input example was not provided", UserWarning)
        saved = save_artifact(artifact, Path(folder) / ARTIFACT)
        logged = mlflow.pyfunc.log_model(
            name=artifact.card.name,
            python_model=str(CODE),
            artifacts={ARTIFACT: str(saved)},
            signature=signature_of(artifact.card, sample),
            pip_requirements=requirements(),
            metadata={"card": to_plain(artifact.card)},
        )
    return logged.model_uri


def _try(model_uri: str, artifact: Artifact, *, sample: pl.DataFrame) -> None:
    """Load the model as a stranger would, and compare what it forecasts with what the model in memory does."""
    with tempfile.TemporaryDirectory() as folder:  # MLflow would leave its own behind
        loaded = mlflow.pyfunc.load_model(model_uri, dst_path=folder)
        answer = pd.DataFrame(loaded.predict(_as_sent(artifact.card, sample)))
    expected = Predictor(artifact).predict_whole(sample).to_pandas()
    if len(answer) != len(expected) or not np.allclose(answer["mean"], expected["mean"], rtol=CLOSE, atol=0):
        raise RegistryError(
            f"{model_uri} was logged, but read back it does not forecast as the model in memory does, so it was not "
            f"registered; look at the run's page, and save and load the artifact by hand to see where they part"
        )


def _as_sent(card: Card, sample: pl.DataFrame) -> pd.DataFrame:
    """Give the sample as the signature wants it."""
    columns = card.contract.columns
    if card.time.zone is not None:
        sample = sample.with_columns(pl.col(columns.time).dt.to_string("iso:strict"))
    wide = {name: pl.Int64 if _type(sample, name) == DataType.long else pl.Float64 for name in columns.targets}
    return sample.with_columns(pl.col(name).cast(dtype) for name, dtype in wide.items()).to_pandas()
