"""Train: read, check, fit, backtest, log, register, and promote what beats the seasonal naive forecast."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from forecast.artifact import Artifact, save_artifact
from forecast.baselines import SeasonalNaive
from forecast.card import describe
from forecast.config import to_plain
from forecast.frames.contract import Prepared, prepare
from forecast.registry import ModelVersion, Registry
from pipelines.config import RunConfig
from pipelines.evaluation import Track
from pipelines.flows.fit import Fitted, fit_panel
from pipelines.flows.result import BacktestResult
from pipelines.flows.score import MODEL, draw, score_model
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
    """The run's own folder: `artifact/`, the configuration, the backtest, the best checkpoint."""
    prepared: Prepared


def train(config: RunConfig, *, progress: bool = False, track: Track = iter) -> Trained:
    """Run the whole training flow as configured.

    Raises:
        LongcastError: whatever stops it; the tracked run is marked as failed and keeps what it had.
    """
    frame = config.source.read()
    prepared = prepare(frame, config.contract)
    plain = to_plain(config)
    with track_run(config.tracking_uri, experiment=config.tracking.experiment or config.name) as run:
        run.log_configuration(plain)
        run.log_data(prepared, name=config.source.describe().name, source=plain["data"])
        folder = config.output / config.name / run.run_id
        folder.mkdir(parents=True, exist_ok=True)
        fitted = fit_panel(config, prepared.panel, folder=folder, on_epoch=run.log_epoch, progress=progress)
        result = score_model(config, prepared.panel, fitted.model, track=track)
        artifact = build_artifact(config, prepared, fitted, result=result)
        _write(folder, artifact, plain=plain, result=result)
        _log_result(run, config, prepared, artifact, result)
        version = register(run, artifact, history=sample(frame, prepared, num_steps=config.model.context_length))
    decision = judge(result, candidate=MODEL, rival=_rival(config))
    decide = promote if decision.passed else decline
    decide(Registry(config.tracking_uri), version, reasons=decision.reasons)
    return Trained(artifact, result, version, decision, folder, prepared)


def build_artifact(
    config: RunConfig, prepared: Prepared, fitted: Fitted, *, result: BacktestResult | None = None
) -> Artifact:
    """Put a fitted model and its card together."""
    figures = result[MODEL].overall() if result is not None else {}
    card = describe(
        fitted.model,
        prepared,
        name=config.name,
        contract=config.contract,
        ends=fitted.parts.train_end,
        backtest=figures,
    )
    return Artifact(fitted.model, card)


def sample(frame: pl.DataFrame, prepared: Prepared, *, num_steps: int) -> pl.DataFrame:
    """Give the newest rows of the first series, as a caller would send them."""
    columns = prepared.columns
    if columns.id in frame.columns:
        frame = frame.filter(pl.col(columns.id) == pl.col(columns.id).first())
    wanted = [name for name in (columns.id, columns.time, columns.target) if name in frame.columns]
    return frame.select(wanted).tail(num_steps)


def _rival(config: RunConfig) -> str:
    """The seasonal naive forecast as configured, or as it is by default."""
    naive = [baseline for baseline in config.backtest.baselines if isinstance(baseline, SeasonalNaive)]
    return (naive[0] if naive else SeasonalNaive()).name


def _write(folder: Path, artifact: Artifact, *, plain: Mapping[str, Any], result: BacktestResult) -> None:
    save_artifact(artifact, folder / "artifact")
    (folder / "configuration.json").write_text(json.dumps(plain, indent=2), encoding="utf-8")
    (folder / "backtest.json").write_text(json.dumps(result.to_plain(), indent=2), encoding="utf-8")


def _log_result(
    run: TrackedRun, config: RunConfig, prepared: Prepared, artifact: Artifact, result: BacktestResult
) -> None:
    run.log_backtest(result, forecaster=MODEL, headline=HEADLINE)
    for name, figure in draw(config, prepared.panel, artifact.model, result).items():
        run.log_picture(figure, name)
