"""What covariates are worth: the same model with and without what is known ahead, over every test window."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.shown import Shown, below, holds
from forecast.config import load_config
from pipelines.config import RunConfig
from pipelines.flows.fit import fit_panel
from pipelines.flows.read import read
from pipelines.flows.result import BacktestResult
from pipelines.flows.score import MODEL, score_model

CONFIGS = ("bike_sharing", "electricity_prices")
WITHOUT = ("contract.covariates={}", "contract.calendar=[]")
QUICK = ("trainer.max_epochs=4", "backtest.stride=6") if os.environ.get("QUICK") == "1" else ()


def show_covariates() -> Iterator[Shown]:
    """Show WQL with and without known-future covariates, and the baselines beside."""
    if "LONGCAST_DATA_DIR" not in os.environ:
        yield holds("covariates", "LONGCAST_DATA_DIR is not set", "WQL with and without", met=None)
        return
    for name in CONFIGS:
        told, untold = (_backtest(name, overrides=[*QUICK, *changes]) for changes in ((), WITHOUT))
        own, bare = told[MODEL].overall()["wql"], untold[MODEL].overall()["wql"]
        yield below(f"{name} wql with covariates, {told.num_windows:,} windows", own, bare, of="the model without")
        for baseline in ("seasonal_naive", "linear"):
            yield below(f"{name} wql with covariates", own, told[baseline].overall()["wql"], of=baseline)


def _backtest(name: str, *, overrides: list[str]) -> BacktestResult:
    config = load_config(RunConfig, Path("configs", f"{name}.yaml"), overrides=overrides)
    panel = read(config).panel
    with tempfile.TemporaryDirectory() as folder:
        fitted = fit_panel(config, panel, folder=Path(folder))
    return score_model(config, panel, fitted.model)
