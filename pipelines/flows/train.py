"""Train: read, check, fit, backtest, log, register, and promote what beats the seasonal naive forecast."""

import json
from dataclasses import dataclass
from pathlib import Path

from forecast.artifact import Artifact
from forecast.baselines import SeasonalNaive
from forecast.config import to_plain
from forecast.errors import ConfigError
from forecast.frames.contract import Prepared
from forecast.registry import ModelVersion, Registry
from pipelines.config import RunConfig
from pipelines.evaluation import Track
from pipelines.flows.draw import draw, draw_attention
from pipelines.flows.fit import build_artifact, fit_panel
from pipelines.flows.keep import keep
from pipelines.flows.read import read
from pipelines.flows.result import BacktestResult
from pipelines.flows.sample import sample
from pipelines.flows.score import MODEL, score_model, scored_windows
from pipelines.gate import Decision, judge
from pipelines.registration import decline, promote, register
from pipelines.tracking import TrackedRun
from pipelines.tracking import track as track_run

HEADLINE = "mase"


@dataclass(frozen=True, eq=False)
class Trained:
    """What a training flow leaves behind."""

    artifact: Artifact
    result: BacktestResult
    version: ModelVersion
    decision: Decision
    folder: Path
    """The run's own folder: `artifact/` with the configuration, the backtest, the best checkpoint."""
    prepared: Prepared

    def __str__(self) -> str:
        """Say what was read, how the model did, and what became of it."""
        verdict = "champion" if self.decision.passed else "not promoted"
        return (
            f"{self.prepared.report}\n{self.result}"
            f"{self.version.reference} is {verdict}: {'; '.join(self.decision.reasons)}\nrun folder: {self.folder}"
        )


def train(config: RunConfig, *, progress: bool = False, track: Track = iter) -> Trained:
    """Run the whole training flow as configured.

    Raises:
        LongcastError: whatever stops it; the tracked run is marked as failed and keeps what it had.
    """
    rival = _rival(config)
    prepared = read(config)
    scored_windows(config, prepared.panel)  # raises before hours of training, not after them
    with track_run(config.tracking_uri, experiment=config.tracking.experiment or config.name) as run:
        _log_beginning(run, config, prepared)
        folder = config.output / config.name / run.run_id
        folder.mkdir(parents=True, exist_ok=True)
        fitted = fit_panel(config, prepared.panel, folder=folder, on_epoch=run.log_epoch, progress=progress)
        result = score_model(config, prepared.panel, fitted.model, track=track)
        artifact = build_artifact(config, prepared, fitted, figures=result[MODEL].overall())
        keep(artifact, config, folder / "artifact")
        _log_result(run, config, prepared, artifact, result, folder=folder)
        tried = sample(prepared, num_steps=config.model.context_length, horizon=config.model.horizon)
        version = register(run, artifact, sample=tried)
    decision = judge(result, candidate=MODEL, rival=rival)
    decide = promote if decision.passed else decline
    decide(Registry(config.tracking_uri), version, reasons=decision.reasons)
    return Trained(artifact, result, version, decision, folder, prepared)


def _rival(config: RunConfig) -> str:
    """Name the forecaster that a champion must beat."""
    for baseline in config.backtest.baselines:
        if isinstance(baseline, SeasonalNaive):
            return baseline.name
    raise ConfigError(
        "a model is promoted where it beats the seasonal naive forecast, and that is not listed; add it: "
        "{kind: seasonal_naive}",
        field="backtest.baselines",
    )


def _log_beginning(run: TrackedRun, config: RunConfig, prepared: Prepared) -> None:
    plain = to_plain(config)
    run.log_configuration(plain)
    run.log_data(prepared, name=config.source.describe().name, source=plain["data"])


def _log_result(
    run: TrackedRun,
    config: RunConfig,
    prepared: Prepared,
    artifact: Artifact,
    result: BacktestResult,
    *,
    folder: Path,
) -> None:
    (folder / "backtest.json").write_text(json.dumps(result.to_plain(), indent=2), encoding="utf-8")
    run.log_backtest(result, forecaster=MODEL, headline=HEADLINE)
    pictures = draw(config, prepared.panel, artifact.model, result)
    if config.attention_maps:
        pictures |= draw_attention(prepared.panel, artifact.model)
    for name, figure in pictures.items():
        run.log_picture(figure, name)
