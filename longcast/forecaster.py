"""The Python face: fit on a frame, predict from a frame, backtest, save and load."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from forecast.artifact import Artifact, load_artifact, save_artifact
from forecast.config import build_config, load_config, to_plain
from forecast.errors import ConfigError
from forecast.frames.contract import prepare
from forecast.predictor import Predictor
from forecast.request import Levels
from pipelines.config import RunConfig
from pipelines.flows.fit import fit_panel
from pipelines.flows.result import BacktestResult
from pipelines.flows.score import score_model
from pipelines.flows.train import build_artifact


class Forecaster:
    """One forecaster from fit to forecast; it reads frames of pandas, polars and pyarrow and answers in kind.

    Nothing is written to disk but by `save`, and nothing is tracked: that is what `longcast train` does.
    """

    def __init__(self, config: RunConfig | str | Path | Mapping[str, Any], *, overrides: Sequence[str] = ()):
        """Take a run configuration: an object, a YAML file or a mapping, changed by `section.key=value` overrides.

        The configuration's `data` section is not read from: frames are given to `fit`.

        Raises:
            ConfigError: the configuration does not say a complete run; names the dotted path.
        """
        self.config = _read(config, overrides)
        self._artifact: Artifact | None = None

    def fit(self, frame: Any, *, progress: bool = False) -> Self:
        """Train on the training part of a long frame; the validation part chooses the best epoch.

        Raises:
            DataError: the frame breaks the data contract.
            TrainingError: there is nothing to train on, or nothing to judge epochs by.
        """
        prepared = prepare(frame, self.config.contract)
        with tempfile.TemporaryDirectory() as folder:
            fitted = fit_panel(self.config, prepared.panel, folder=Path(folder), progress=progress)
        self._artifact = build_artifact(self.config, prepared, fitted)
        return self

    def predict(
        self,
        frame: Any,
        *,
        horizon: int | None = None,
        level: Levels | None = None,
        quantiles: Levels | None = None,
        frequency: str | int | None = None,
        context_length: int | None = None,
    ) -> Any:
        """Forecast every series of a long frame from its own end; the answer has the frame's kind, dtypes and zone.

        `level=80` and `quantiles=[0.1, 0.9]` ask for the same. What is not given is as it was trained. Columns of the
        answer: id, time, `mean`, and a quantile level each, named by its decimal.

        Raises:
            ConfigError: a request that makes no sense, or a forecaster that is not fitted.
            DataError: none of the frame's series can be forecast; others are left out with a warning.
        """
        return Predictor(self.artifact).predict(
            frame,
            horizon=horizon,
            level=level,
            quantile_levels=quantiles,
            frequency=frequency,
            context_length=context_length,
        )

    def backtest(self, frame: Any) -> BacktestResult:
        """Score every test window of a long frame beside the configured baselines, fitted on its training part.

        Raises:
            SeriesTooShort: the split leaves no test window.
        """
        prepared = prepare(frame, self.config.contract)
        return score_model(self.config, prepared.panel, self.artifact.model)

    def save(self, folder: str | Path) -> Path:
        """Write the trained model: weights in safetensors beside a card in JSON, and the run configuration."""
        return save_artifact(self.artifact, folder)

    @classmethod
    def load(cls, folder: str | Path, *, config: RunConfig | str | Path | Mapping[str, Any] | None = None) -> Self:
        """Read a trained model; with the run configuration it can also be backtested by the same split.

        Raises:
            ArtifactError: the folder does not hold a whole, unaltered model of this library.
        """
        artifact = load_artifact(folder)
        loaded = cls(_of(artifact) if config is None else config)
        loaded._artifact = artifact
        return loaded

    @property
    def artifact(self) -> Artifact:
        """The trained model and its card.

        Raises:
            ConfigError: the forecaster is not fitted.
        """
        if self._artifact is None:
            raise ConfigError("this forecaster is not fitted yet; call fit(frame), or Forecaster.load(folder)")
        return self._artifact


def _read(config: RunConfig | str | Path | Mapping[str, Any], overrides: Sequence[str]) -> RunConfig:
    if isinstance(config, str | Path):
        return load_config(RunConfig, config, overrides=overrides)
    plain = to_plain(config) if isinstance(config, RunConfig) else config
    return build_config(RunConfig, plain, overrides=overrides)


def _of(artifact: Artifact) -> dict[str, Any]:
    """Make a run configuration from a card: what it does not say is as it is by default."""
    card = artifact.card
    return {"name": card.name, "model": to_plain(card.model), "contract": to_plain(card.contract)}
