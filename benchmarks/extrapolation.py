"""How far a context may outgrow the trained one: a model a position scheme, shown 1 to 16 times its trained length.

Every model is trained on the same windows of a week and scored on the same test windows; only the past that it is shown
grows. QUICK=1 trains less and scores fewer windows, and says so.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.shown import Shown, holds, report
from benchmarks.side_by_side import write
from forecast.config import load_config
from forecast.errors import ContextTooLong
from forecast.metrics import SeriesScales
from pipelines.config import RunConfig
from pipelines.contender import ModelContender
from pipelines.flows.backtest import backtest
from pipelines.flows.fit import fit_panel
from pipelines.flows.read import read
from pipelines.flows.score import MODEL, scored_windows

CONFIG = "configs/long_context.yaml"
SCHEMES = ("alibi", "rope", "relative", "sinusoidal", "learned", "none")
FACTORS = (1, 2, 4, 8, 16)
METRIC = "wql"
MOST = 1.05  # of ALiBi's own error at the trained length
QUICK = ("trainer.max_epochs=1", "backtest.stride=97") if os.environ.get("QUICK") == "1" else ()
TRAINED = 336  # steps, a week of half-hours
PICTURE = Path("docs/pictures/extrapolation.png")

Errors = dict[str, list[float | None]]


def show_extrapolation(*, schemes: tuple[str, ...] = SCHEMES) -> Iterator[Shown]:
    """Show the error of each scheme at each length; only ALiBi has an aim."""
    if "LONGCAST_DATA_DIR" not in os.environ:
        yield holds("extrapolation", "LONGCAST_DATA_DIR is not set", "errors by length", met=None)
        return
    errors: Errors = {}
    for scheme in schemes:
        windows, errors[scheme] = measure(scheme)
        yield _shown(scheme, errors[scheme], windows=windows)
    if "--write" in sys.argv:
        write("extrapolation", {"trained_on": TRAINED, "factors": FACTORS, METRIC: errors})
        draw(errors, PICTURE)


def measure(scheme: str) -> tuple[int, list[float | None]]:
    """Train one scheme; give the number of test windows, and its error at each length (None where it refuses)."""
    config = load_config(RunConfig, CONFIG, overrides=[f"model.position={{kind: {scheme}}}", *QUICK])
    panel = read(config).panel
    with tempfile.TemporaryDirectory() as folder:
        fitted = fit_panel(config, panel, folder=Path(folder))
    windows = scored_windows(config, panel, parts=fitted.parts)
    scales = SeriesScales.measure(
        panel, ends=fitted.parts.train_end, units=fitted.units, season_length=config.backtest.season_for(panel)
    )
    found: list[float | None] = []
    for factor in FACTORS:
        shown = ModelContender(fitted.model, steps=factor * config.model.context_length)
        try:
            result = backtest({MODEL: shown}, panel, windows, horizon=config.model.horizon, scales=scales)
        except ContextTooLong:
            found.append(None)
        else:
            found.append(result[MODEL].overall()[METRIC])
    return len(windows), found


def draw(errors: Errors, file: Path) -> None:
    """Draw the error of each scheme by length."""
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for scheme, found in errors.items():
        known = [(factor, error) for factor, error in zip(FACTORS, found, strict=True) if error is not None]
        axes.plot(*zip(*known, strict=True), marker="o", label=scheme)
    axes.set(xscale="log", xlabel=f"context, in units of the {TRAINED} steps trained on", ylabel=METRIC.upper())
    axes.set_xticks(FACTORS, [f"{factor}n" for factor in FACTORS])
    axes.legend(frameon=False)
    figure.savefig(file, dpi=120)


def _shown(scheme: str, errors: list[float | None], *, windows: int) -> Shown:
    figure = ", ".join(
        f"{factor}n refused" if error is None else f"{factor}n {error:.4f}"
        for factor, error in zip(FACTORS, errors, strict=True)
    )
    name = f"{METRIC} of {scheme} by context, trained at n = {TRAINED} steps, {windows:,} windows"
    if scheme != "alibi":
        return holds(name, figure, "as it comes out", met=True)
    first, last = errors[0], errors[-1]
    met = first is not None and last is not None and last <= MOST * first
    return holds(name, figure, "at 16n at most 1.05 times the error at n", met=met)


if __name__ == "__main__":
    sys.exit(0 if report([show_extrapolation]) else 1)
