"""Accuracy of shipped configurations over all their test windows, beside the baselines of the same run."""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.shown import Shown, at_most, below, holds
from forecast.config import load_config
from forecast.frames.contract import prepare
from pipelines.config import RunConfig
from pipelines.flows.fit import fit_panel
from pipelines.flows.result import BacktestResult
from pipelines.flows.score import MODEL, score_model

RIVAL = "seasonal_naive"
SINE_AIM = 1e-4
ETTH1_AIM = {"standardised_mse": 0.364, "standardised_mae": 0.391}
ETTH1_SECONDS = 20 * 60


def show_sine(*overrides: str) -> Iterator[Shown]:
    """Show the free-running error of the sine task, in the units of the series."""
    result, seconds = _run("configs/sine.yaml", *overrides)
    yield at_most(f"sine free-running test MSE, {seconds:.0f} s", result[MODEL].overall()["mse"], SINE_AIM)


def show_etth1(*overrides: str) -> Iterator[Shown]:
    """Show ETTh1 at horizon 96 by the protocol, with the rows of the floor and of the seasonal naive beside it."""
    result, seconds = _run("configs/etth1.yaml", *overrides)
    print(result)
    overall = result[MODEL].overall()
    for metric, bound in ETTH1_AIM.items():
        yield at_most(f"etth1-96 {metric}, {result.num_windows:,} windows", overall[metric], bound, digits=4)
        yield below(f"etth1-96 {metric}", overall[metric], result[RIVAL].overall()[metric], of=RIVAL)
    for name in ("linear", "seasonal_naive", "last_value"):
        row = result[name].overall()
        yield holds(
            f"etth1-96 row of {name}", f"{row['standardised_mse']:.3f}/{row['standardised_mae']:.3f}", "shown", met=True
        )
    yield at_most("etth1-96 seconds of training", seconds, ETTH1_SECONDS, digits=4)


def _run(config_file: str, *overrides: str) -> tuple[BacktestResult, float]:
    """Train and score one configuration, tracking nothing; give the result and the seconds of training."""
    config = load_config(RunConfig, config_file, overrides=overrides)
    panel = prepare(config.source.read(), config.contract).panel
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        fitted = fit_panel(config, panel, folder=Path(folder), progress=os.isatty(2))
        seconds = time.monotonic() - started
    return score_model(config, panel, fitted.model), seconds
