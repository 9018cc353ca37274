"""Folds: train anew on ever more history, and score each model on what came next."""

import tempfile
from pathlib import Path

from forecast.errors import SeriesTooShort
from forecast.frames.panel import Panel
from pipelines.config import RunConfig
from pipelines.evaluation import Track
from pipelines.flows.fit import fit_panel
from pipelines.flows.result import BacktestResult
from pipelines.flows.score import score_model
from pipelines.split import rolling_folds


def backtest_folds(config: RunConfig, panel: Panel, *, num_folds: int, track: Track = iter) -> list[BacktestResult]:
    """Score the configured model on folds whose test parts tile the split's test part, oldest first.

    Every fold trains anew, weights, draft and scales, on what lies before its held-out parts; its validation part is as
    long as its test part.

    Raises:
        SeriesTooShort: a fold's test part would not hold one horizon.
    """
    parts = config.split.cut(panel, horizon=config.model.horizon)
    longest = int((parts.test_end - parts.validation_end).max(initial=0))
    steps = longest // num_folds
    if steps < config.model.horizon:
        raise SeriesTooShort(
            f"{num_folds} folds share a test part of {longest} steps, too few for a horizon of {config.model.horizon} "
            f"each; ask for fewer folds, or a split with a larger test part"
        )
    results = []
    for fold in rolling_folds(panel, num_folds=num_folds, test_steps=steps, validation_steps=steps):
        with tempfile.TemporaryDirectory() as folder:
            model = fit_panel(config, panel, parts=fold, folder=Path(folder)).model
        results.append(score_model(config, panel, model, parts=fold, track=track))
    return results
