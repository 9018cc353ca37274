"""The Python face: fit on a frame, predict from a frame, backtest, save and load."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from forecast.artifact import Artifact, load_artifact
from forecast.compiled import compile_artifact
from forecast.config import build_config, load_config, to_plain
from forecast.errors import ConfigError
from forecast.frames.contract import prepare
from forecast.inspect.look import Part
from forecast.inspect.maps import AttentionMaps, attention_maps
from forecast.predictor import Predictor
from forecast.request import Levels
from pipelines.config import RunConfig
from pipelines.flows.keep import keep, kept_configuration
from pipelines.flows.result import BacktestResult
from pipelines.flows.score import score_model

Configuration = RunConfig | str | Path | Mapping[str, Any]
"""A run configuration: the object, a YAML file, or what such a file holds."""


class Forecaster:
    """One forecaster from fit to forecast; it reads frames of pandas, polars and pyarrow and answers in kind.

    Nothing is written to disk but by `save`, and nothing is tracked: that is what `longcast train` does.

    >>> import numpy as np, pandas as pd
    >>> hours = pd.date_range("2026-01-01", periods=480, freq="h", tz="Europe/Berlin")
    >>> history = pd.DataFrame({"ds": hours, "y": 10 + np.sin(np.arange(480) * np.pi / 12)})
    >>> model = {"context_length": 48, "horizon": 24, "patch_length": 12, "layer": {"d_model": 16}}
    >>> forecaster = Forecaster({"name": "waves", "model": model, "trainer": {"max_epochs": 1}}).fit(history)
    >>> answer = forecaster.predict(history, horizon=36, level=80)
    >>> answer.columns.tolist(), len(answer), str(answer["ds"][0])
    (['unique_id', 'ds', 'mean', '0.1', '0.9'], 36, '2026-01-21 00:00:00+01:00')
    >>> list(forecaster.backtest(history))
    ['longcast', 'last_value', 'seasonal_naive', 'linear']
    """

    def __init__(self, config: Configuration, *, overrides: Sequence[str] = ()):
        """Take a run configuration, changed by `section.key=value` overrides.

        The configuration's `data` section is not read from: frames are given to `fit`.

        Raises:
            ConfigError: the configuration does not say a complete run; names the dotted path.
        """
        self._config: RunConfig | None = _read(config, overrides)
        self._artifact: Artifact | None = None

    def fit(self, frame: Any, *, covariates: Any = None, progress: bool = False) -> Self:
        """Train on the training part of a long frame; the validation part chooses the best epoch.

        `covariates` is a second frame with covariates by id and time, where the first does not hold them.

        Raises:
            DataError: the frame breaks the data contract.
            TrainingError: there is nothing to train on, or nothing to judge epochs by.
        """
        # Here, because it brings Lightning: seconds of import that who loads a model and predicts need not wait for.
        from pipelines.flows.fit import build_artifact, fit_panel

        prepared = prepare(frame, self.config.contract, covariates=covariates)
        with tempfile.TemporaryDirectory() as folder:
            fitted = fit_panel(self.config, prepared.panel, folder=Path(folder), progress=progress)
        self._artifact = build_artifact(self.config, prepared, fitted)
        return self

    def predict(
        self,
        frame: Any,
        *,
        future: Any = None,
        horizon: int | None = None,
        level: Levels | None = None,
        quantiles: Levels | None = None,
        frequency: str | int | None = None,
        context_length: int | None = None,
    ) -> Any:
        """Forecast every series of a long frame from its own end; the answer has the frame's kind, dtypes and zone.

        `level=80` and `quantiles=[0.1, 0.9]` ask for the same. What is not given is as it was trained. Columns of the
        answer: id, time, `mean`, and a quantile level each, named by its decimal; for several targets, `target_name`.

        `future` holds the covariates that are known ahead, by id and time: `make_future_frame` gives its rows.

        Raises:
            ConfigError: a request that makes no sense, or a forecaster that is not fitted.
            DataError: none of the frame's series can be forecast; others are left out with a warning.
            QuantilesUnavailable: levels were asked of a point model.
            ContextTooLong: the model's positions do not reach as far as the context asked for.
        """
        return Predictor(self.artifact).predict(
            frame,
            horizon=horizon,
            future=future,
            level=level,
            quantile_levels=quantiles,
            frequency=frequency,
            context_length=context_length,
        )

    def make_future_frame(self, frame: Any, *, horizon: int | None = None) -> Any:
        """Give the rows to fill in for `predict(frame, future=...)`: id and time of each step ahead, covariates null.

        Raises:
            ConfigError: the forecaster is not fitted.
            DataError: the frame breaks the data contract.
        """
        return Predictor(self.artifact).future_template(frame, horizon=horizon)

    def attention(
        self,
        frame: Any,
        *,
        part: Part = "encoder",
        series: str | int | None = None,
        layers: Sequence[int] | None = None,
        heads: Sequence[int] | None = None,
        queries: Sequence[int] | None = None,
        future: Any = None,
        context_length: int | None = None,
    ) -> AttentionMaps:
        """Forecast one series of a long frame from its own end and give what each token looks at meanwhile.

        `part` names the attentions: those of the context (`encoder`), of the horizon (`decoder`), of the horizon at the
        context (`cross`), or of the targets of an entity (`channels`). The first series, all layers, heads and queries
        where none are named, counted from 0; ask for few queries of a long context, because weights take memory.

        Raises:
            ConfigError: the model has no such part, layer, head or query; or the forecaster is not fitted.
            DataError: the frame breaks the data contract, or the series is not in it or cannot be forecast.
        """
        return attention_maps(
            self.artifact,
            frame,
            part=part,
            series=series,
            layers=layers,
            heads=heads,
            queries=queries,
            future=future,
            context_length=context_length,
        )

    def backtest(self, frame: Any, *, covariates: Any = None) -> BacktestResult:
        """Score every test window of a long frame beside the configured baselines, fitted on its training part.

        Raises:
            ConfigError: the forecaster is not fitted, or was loaded without the configuration that says the split.
            SeriesTooShort: the split leaves no test window.
        """
        model = self.artifact.model
        prepared = prepare(frame, self.config.contract, covariates=covariates, schema=self.artifact.card.covariates)
        return score_model(self.config, prepared.panel, model)

    def compile(self) -> Self:
        """Have single series of the trained context forecast by code compiled for this processor, on a CPU.

        The first time takes half a minute and a C++ compiler, later times a second; forecasts stay what they are, but
        for rounding. What else is asked, more series or another context, runs as before.

        Raises:
            BackendUnavailable: the model cannot be compiled here; says why.
            ConfigError: the forecaster is not fitted.
        """
        compile_artifact(self.artifact)
        return self

    def save(self, folder: str | Path) -> Path:
        """Write the trained model: weights in safetensors, a card in JSON, the run configuration in YAML.

        Raises:
            ArtifactError: the folder holds something else than a saved model.
        """
        return keep(self.artifact, self._config, folder)

    @classmethod
    def load(cls, folder: str | Path, *, config: Configuration | None = None) -> Self:
        """Read a trained model, and the configuration of its run where it was saved with one.

        Raises:
            ArtifactError: the folder does not hold a whole, unaltered model of this library.
            ConfigError: a configuration that does not say a complete run of this version of the library.
        """
        loaded = cls.__new__(cls)
        loaded._artifact = load_artifact(folder)
        loaded._config = kept_configuration(folder) if config is None else _read(config, ())
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

    @property
    def config(self) -> RunConfig:
        """The run configuration.

        Raises:
            ConfigError: the forecaster was loaded from a model that was saved without one.
        """
        if self._config is None:
            raise ConfigError(
                "this model was saved without the configuration of its run, so how its data were split is not known; "
                "give it: Forecaster.load(folder, config=...)"
            )
        return self._config


def _read(config: Configuration, overrides: Sequence[str]) -> RunConfig:
    if isinstance(config, str | Path):
        return load_config(RunConfig, config, overrides=overrides)
    plain = to_plain(config) if isinstance(config, RunConfig) else config
    return build_config(RunConfig, plain, overrides=overrides)
