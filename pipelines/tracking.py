"""What a run leaves in MLflow: configuration, data set, figures by epoch and by horizon step, tables, pictures."""

import math
import os
import time
from collections import Counter
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mlflow
import numpy as np
import yaml
from jaxtyping import Float64
from matplotlib.figure import Figure
from mlflow.data.code_dataset_source import CodeDatasetSource
from mlflow.data.meta_dataset import MetaDataset
from mlflow.entities import Metric, RunTag

from forecast.config import flatten
from forecast.frames.contract import Prepared
from forecast.frames.digest import panel_digest
from forecast.frames.report import Report
from forecast.version import git_sha, library_version
from pipelines.flows.result import BacktestResult
from pipelines.store import ensure_store, experiment_id

MAX_PARAMETER = 6000  # characters; MLflow cuts a longer value off itself, with a warning each
METRICS_A_BATCH = 1000  # MLflow refuses more at once
HEADLINE = "_"  # sorts before every letter, so that the figure that decides is the first that MLflow's pages show


@dataclass(frozen=True)
class TrackedRun:
    """An open run. Everything is written at once, so that a run that fails keeps what it had."""

    run_id: str
    uri: str

    def log_configuration(self, plain: Mapping[str, Any]) -> None:
        """Log the whole configuration: each value a parameter by its dotted path, and one YAML file to run again."""
        parameters = {key: str(value)[:MAX_PARAMETER] for key, value in flatten(plain).items()}
        mlflow.log_params(parameters, run_id=self.run_id)
        mlflow.log_text(yaml.safe_dump(dict(plain), sort_keys=False), "configuration.yaml", run_id=self.run_id)

    def log_data(self, prepared: Prepared, *, name: str, source: Mapping[str, Any]) -> None:
        """Log which data were read, by a digest of their whole content, and what the contract found in them.

        The report comes whole as JSON, as people read it, and as tags by which runs can be searched: `data.series`,
        `data.steps`, `data.duplicates` and so on.
        """
        origin = CodeDatasetSource({key: str(value) for key, value in flatten(source).items()})
        dataset = MetaDataset(  # ty: ignore[abstract-class-instantiation] - MLflow's own way to log a data set without a copy
            origin, name=name, digest=panel_digest(prepared.panel)
        )
        mlflow.log_input(dataset, context="training")
        mlflow.log_dict(prepared.report.to_plain(), "data_report.json", run_id=self.run_id)
        mlflow.log_text(str(prepared.report), "data_report.txt", run_id=self.run_id)
        mlflow.MlflowClient().log_batch(self.run_id, tags=[RunTag(*known) for known in _data_tags(prepared.report)])

    def log_epoch(self, epoch: int, metrics: Mapping[str, float]) -> None:
        """Log the figures of one epoch, at the epoch as step."""
        mlflow.log_metrics(_defined(metrics), step=epoch, run_id=self.run_id)

    def log_backtest(self, result: BacktestResult, *, forecaster: str, headline: str) -> None:
        """Log a backtest: figures of all forecasters, overall and by horizon step, a table by series, all as JSON.

        The `headline` metric of `forecaster` comes again as `_<metric>`, first by name.
        """
        overall = {name: scores.overall() for name, scores in result.scores.items()}
        mlflow.log_metrics(_defined({f"{HEADLINE}{headline}": overall[forecaster][headline]}), run_id=self.run_id)
        for name, metrics in overall.items():
            figures = {f"backtest/{name}/{metric}": value for metric, value in metrics.items()}
            mlflow.log_metrics(_defined(figures), run_id=self.run_id)
        self._log_steps(result)
        mlflow.log_table(_by_series(result), "backtest_by_series.json", run_id=self.run_id)
        mlflow.log_dict(result.to_plain(), "backtest.json", run_id=self.run_id)
        mlflow.log_text(str(result), "backtest.txt", run_id=self.run_id)

    def log_picture(self, figure: Figure, name: str) -> None:
        """Log a picture under `pictures/<name>.png`."""
        mlflow.log_figure(figure, f"pictures/{name}.png")

    def _log_steps(self, result: BacktestResult) -> None:
        """Log every metric by horizon step; step 1 is the first after the origin."""
        now = int(time.time() * 1000)
        entries = [
            Metric(f"by_step/{name}/{metric}", value, timestamp=now, step=step)
            for name, scores in result.scores.items()
            for metric, values in scores.by_step().items()
            for step, value in _numbered(values)
        ]
        client = mlflow.MlflowClient()
        for first in range(0, len(entries), METRICS_A_BATCH):
            client.log_batch(self.run_id, metrics=entries[first : first + METRICS_A_BATCH])


@contextmanager
def track(uri: str, *, experiment: str, name: str | None = None) -> Generator[TrackedRun]:
    """Open a run in an experiment; leaving by an exception marks it as failed. MLflow points at `uri` meanwhile.

    `name` is the run's; MLflow makes one up where it is None.

    Raises:
        RegistryError: the SQLite store cannot be made.
    """
    ensure_store(uri)
    tags = {"longcast.version": library_version(), "longcast.commit": git_sha() or "unknown"}
    place = experiment_id(uri, experiment)
    with _pointed_at(uri), mlflow.start_run(experiment_id=place, run_name=name, tags=tags) as run:
        yield TrackedRun(run.info.run_id, uri)


@contextmanager
def _pointed_at(uri: str) -> Generator[None]:
    """Point MLflow's process-wide settings at a store, and back."""
    tracking, registry = mlflow.get_tracking_uri(), mlflow.get_registry_uri()
    mlflow.set_tracking_uri(uri)
    mlflow.set_registry_uri(uri)
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")  # the one bar is training's
    try:
        yield
    finally:
        mlflow.set_tracking_uri(tracking)
        mlflow.set_registry_uri(registry)


def _data_tags(report: Report) -> Iterator[tuple[str, str]]:
    """Give the sizes of the data, and the rows or steps concerned by each kind of finding."""
    sizes = {"rows": report.num_rows, "series": report.num_series, "steps": report.num_steps}
    counts = Counter[str]()
    for finding in report.findings:
        counts[finding.kind] += finding.count
    return ((f"data.{name}", str(count)) for name, count in {**sizes, **counts}.items())


def _defined(metrics: Mapping[str, float]) -> dict[str, float]:
    """Leave out figures that are undefined: a store keeps NaN as 0, and a chart shows it as one."""
    return {name: float(value) for name, value in metrics.items() if math.isfinite(value)}


def _numbered(values: Float64[np.ndarray, " horizon"]) -> Iterator[tuple[int, float]]:
    return ((step, float(value)) for step, value in enumerate(values, start=1) if math.isfinite(value))


def _by_series(result: BacktestResult) -> dict[str, list[Any]]:
    """One row a forecaster and series."""
    columns: dict[str, list[Any]] = {"forecaster": [], "series": []}
    for name, scores in result.scores.items():
        columns["forecaster"] += [name] * len(result.ids)
        columns["series"] += [str(series) for series in result.ids]
        for metric, values in scores.by_series().items():
            columns.setdefault(metric, []).extend(values.tolist())
    return columns
