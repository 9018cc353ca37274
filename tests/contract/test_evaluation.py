"""Evaluation: nothing held out shapes a figure or a forecast, and every row can be found again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from forecast.covariate_scales import measure_covariates
from forecast.errors import ConfigError, TrainingError
from forecast.frames.contract import DataContract, prepare
from forecast.frames.covariate_columns import CovariateColumns
from forecast.frames.panel import Panel
from forecast.metrics import SeriesScales
from pipelines.contender import ModelContender
from pipelines.datamodule import WindowDataModule
from pipelines.evaluation import forecast_windows
from pipelines.flows.fit import fit_panel
from pipelines.split import FractionSplit, rolling_folds, train_units
from tests.contract.faces import CURRENT, INPUTS, Room, everywhere
from tests.contract.inputs import FEW, MORE, RANDOMS, SEEDS, frame_of, hourly, lengths
from tests.contract.table import covers
from tests.contract.told import told_contract, told_frames, told_room
from tests.tiny_model import HORIZON
from tests.tiny_run import tiny_config


def corrupted(frame: pl.DataFrame, cutoff: int, *, factor: float) -> pl.DataFrame:
    """The same history with everything from a step on spoilt."""
    after = pl.int_range(pl.len()).over("unique_id") >= cutoff
    return frame.with_columns(
        pl.when(after).then(pl.col(name) * factor - 7).otherwise(name).alias(name) for name in _numbers(frame)
    )


def _numbers(frame: pl.DataFrame) -> list[str]:
    return [name for name in frame.columns if frame.schema[name].is_float()]


# ---- Scales


@covers("evaluation-scales")
@MORE
@given(SEEDS, st.integers(1, 3), st.sampled_from([0.0, -1e6, 1e20]))
def test_what_is_held_out_of_a_fold_shapes_no_scale_of_it(seed: int, num_folds: int, factor: float) -> None:
    INPUTS[CURRENT[0]] += 1
    frame = frame_of({"a": 60, "b": 60}, seed=seed).with_columns(wind=pl.col("y").reverse())
    contract = DataContract(covariates=CovariateColumns(past=("wind",)))

    for number in range(num_folds):
        cutoff = 60 - 5 * (num_folds - number)
        before, after = (
            _scales(prepare(given_frame, contract).panel, num_folds=num_folds, number=number, cutoff=cutoff)
            for given_frame in (frame, corrupted(frame, cutoff, factor=factor))
        )
        assert all(np.array_equal(one, other) for one, other in zip(before, after, strict=True))


def _scales(panel: Panel, *, num_folds: int, number: int, cutoff: int) -> list[Any]:
    ends = rolling_folds(panel, num_folds=num_folds, test_steps=5)[number].train_end
    assert set(ends) == {cutoff}
    assert panel.covariates is not None
    units = train_units(panel, ends)
    seasonal = SeriesScales.measure(panel, ends=ends, units=units, season_length=3).seasonal
    return [units, seasonal, *measure_covariates(panel.covariates, ends=ends).steps]


# ---- Leaks


@covers("evaluation-leak")
@MORE
@given(hourly(4, 60), st.integers(2, 59), st.sampled_from([0.0, -1e6, 1e20]))
def test_what_comes_after_a_cutoff_changes_no_forecast_made_at_it(
    room: Room, frame: pl.DataFrame, cutoff: int, factor: float
) -> None:
    head = pl.int_range(pl.len()).over("unique_id") < cutoff
    before = everywhere(room, frame.filter(head))
    assert room.python(corrupted(frame, cutoff, factor=factor).filter(head)).frame.equals(before.frame)

    panels = [
        prepare(one, DataContract(frequency="h")).panel for one in (frame, corrupted(frame, cutoff, factor=factor))
    ]
    windows = [_window(room, panel, cutoff) for panel in panels]
    assert np.array_equal(*windows)


@covers("evaluation-leak")
@FEW
@given(SEEDS, st.integers(2, 40), st.sampled_from([0.0, -1e6]), st.sampled_from([HORIZON, 2 * HORIZON]))
def test_covariates_of_the_past_alone_are_not_seen_after_the_cutoff(
    rooms: Callable[..., Room], seed: int, cutoff: int, factor: float, horizon: int
) -> None:
    INPUTS[CURRENT[0]] += 1
    room, (frame, _) = told_room(rooms), told_frames({"a": 60, "c": 60}, seed=seed)
    spoilt = corrupted(frame.select("unique_id", "ds", "y", "wind"), cutoff, factor=factor)
    panels = [
        prepare(one, told_contract(), schema=room.predictor.card.covariates).panel
        for one in (frame, frame.update(spoilt))
    ]

    assert np.array_equal(*(_window(room, panel, cutoff, horizon=horizon) for panel in panels))


def _window(room: Room, panel: Panel, cutoff: int, *, horizon: int = HORIZON) -> np.ndarray:
    """The forecast of a backtest's window whose origin is the cutoff."""
    series = np.arange(len(panel))
    origins = np.minimum(panel.lengths, cutoff)
    return forecast_windows(
        ModelContender(room.predictor.artifact.model), panel, series=series, origins=origins, horizon=horizon
    ).quantiles


# ---- Early stopping and units


@covers("evaluation-stopping")
@pytest.mark.parametrize(
    "split",
    [{"kind": "fraction", "train": 1.0, "validation": 0.0}, {"kind": "steps", "train": 60, "validation": 0, "test": 0}],
)
def test_epochs_that_nothing_can_judge_are_refused_before_training(split: dict[str, Any], tmp_path: Path) -> None:
    INPUTS[CURRENT[0]] += 1
    config, panel = tiny_config(split=split), prepare(frame_of({"a": 60})).panel
    seen: list[int] = []

    with pytest.raises((TrainingError, ConfigError), match=r"no validation window .*trainer\.monitor to train_loss"):
        fit_panel(config, panel, folder=tmp_path, on_epoch=lambda epoch, metrics: seen.append(epoch))

    assert not seen
    by_request = tiny_config("trainer.monitor=train_loss", "trainer.max_epochs=1", split=split)
    assert fit_panel(by_request, panel, folder=tmp_path).fit.best_epoch == 0


@covers("evaluation-units")
@FEW
@given(SEEDS, st.sampled_from([1e-6, 1e6]))
def test_figures_of_validation_are_in_one_unit_whatever_the_series_is_measured_in(
    room: Room, seed: int, size: float
) -> None:
    INPUTS[CURRENT[0]] += 1
    model, frame = room.predictor.artifact.model, frame_of({"a": 60, "b": 50}, seed=seed)

    def losses(part: pl.DataFrame) -> list[float]:
        panel = prepare(part).panel
        parts = FractionSplit().cut(panel)
        windows = WindowDataModule(panel, parts, context_length=24, horizon=HORIZON, batch_size=8, seed=1)
        batches = [*windows.val_dataloader()[0], next(iter(windows.train_dataloader()))]
        with torch.no_grad():
            return [
                float(loss(batch)) for batch in batches for loss in (model.teacher_forced_loss, model.free_running_loss)
            ]

    assert losses(frame.with_columns(pl.col("y") * size)) == pytest.approx(losses(frame), rel=1e-3)


# ---- Keys


@covers("evaluation-keys")
@MORE
@given(lengths(2, 40), SEEDS, RANDOMS)
def test_every_row_has_its_key_and_a_panel_gives_the_same_numbers(
    room: Room, chosen: dict[str, int], seed: int, random: Any
) -> None:
    frame = frame_of(chosen, seed=seed)

    answer = everywhere(room, frame, random=random)

    keys = answer.frame.select("unique_id", "ds")
    assert keys.n_unique() == len(keys) == HORIZON * len(chosen)
    assert not keys.join(frame, on=["unique_id", "ds"], how="semi").height
    forecast = room.predictor.predict_panel(prepare(frame).panel)
    assert np.array_equal(forecast.mean.ravel(), answer.frame["mean"].to_numpy())
    assert np.array_equal(forecast.quantiles.reshape(len(keys), -1), answer.numbers[:, 1:])
