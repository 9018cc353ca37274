"""Accuracy of shipped configurations over all their test windows, beside the baselines of the same run."""

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.shown import Shown, at_most, below, holds
from forecast.batch import cut_newest
from forecast.config import load_config
from forecast.frames.contract import prepare
from forecast.frames.panel import Panel
from forecast.model.transformer import ForecastModel
from pipelines.config import RunConfig
from pipelines.flows.fit import fit_panel
from pipelines.flows.result import BacktestResult
from pipelines.flows.score import MODEL, score_model

RIVAL = "seasonal_naive"
SINE_AIM = 1e-4
FAST_WAVE = 0.1  # amplitude of the sine task's fast wave
TURN = 200  # steps of one turn of its slow wave
ETTH1_AIM = {"standardised_mse": 0.364, "standardised_mae": 0.391}
ETTH1_SECONDS = 20 * 60


@dataclass(frozen=True, eq=False)
class Ran:
    """A trained and scored configuration."""

    panel: Panel
    model: ForecastModel
    result: BacktestResult
    seconds: float
    """Of training."""


def show_sine(*overrides: str) -> Iterator[Shown]:
    """Show the free-running error of the sine task, in the units of the series."""
    ran = _run("configs/sine.yaml", *overrides)
    yield at_most(f"sine free-running test MSE, {ran.seconds:.0f} s", ran.result[MODEL].overall()["mse"], SINE_AIM)
    fast = _fast_wave(ran)
    met = abs(fast - FAST_WAVE) < 0.2 * FAST_WAVE
    yield holds("sine 5x component in the spectrum of two turns forecast", f"{fast:.3f}", "0.1 within 20 %", met=met)


def show_etth1(*overrides: str) -> Iterator[Shown]:
    """Show ETTh1 at horizon 96 by the protocol, with the rows of the floor and of the seasonal naive beside it."""
    ran = _run("configs/etth1.yaml", *overrides)
    result, overall = ran.result, ran.result[MODEL].overall()
    print(result)
    for metric, bound in ETTH1_AIM.items():
        yield at_most(f"etth1-96 {metric}, {result.num_windows:,} windows", overall[metric], bound, digits=4)
        yield below(f"etth1-96 {metric}", overall[metric], result[RIVAL].overall()[metric], of=RIVAL)
    for name in ("linear", "seasonal_naive", "last_value"):
        row = result[name].overall()
        yield holds(
            f"etth1-96 row of {name}", f"{row['standardised_mse']:.3f}/{row['standardised_mae']:.3f}", "shown", met=True
        )
    yield at_most("etth1-96 seconds of training", ran.seconds, ETTH1_SECONDS, digits=4)


def _run(config_file: str, *overrides: str) -> Ran:
    """Train and score one configuration, tracking nothing."""
    config = load_config(RunConfig, config_file, overrides=overrides)
    panel = prepare(config.source.read(), config.contract).panel
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        fitted = fit_panel(config, panel, folder=Path(folder), progress=os.isatty(2))
        seconds = time.monotonic() - started
    return Ran(panel, fitted.model, score_model(config, panel, fitted.model), seconds)


def _fast_wave(ran: Ran) -> float:
    """Forecast two turns of the slow wave from the end of the series, and give the amplitude of the fast one."""
    window = cut_newest(ran.panel, series=np.arange(1), context_length=ran.model.config.context_length)
    forecast = ran.model.forecast(window.past, window.past_observed, horizon=2 * TURN)
    amplitudes = 2 * np.abs(np.fft.rfft(forecast.mean[0])) / (2 * TURN)
    return float(amplitudes[10])  # five times as fast as the slow wave, which turns twice
