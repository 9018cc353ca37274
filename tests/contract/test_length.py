"""Length: short, empty, odd and endless series, contexts and horizons."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.errors import SeriesTooShort
from forecast.frames.contract import DataContract, prepare
from forecast.metrics import SeriesScales
from pipelines.contender import ModelContender
from pipelines.evaluation import evaluate
from pipelines.split import FractionSplit, train_units
from pipelines.windows import test_windows as windows_of_test_part
from pipelines.windows import training_windows, window_report
from tests.contract.faces import CURRENT, INPUTS, Room, everywhere, refused_everywhere
from tests.contract.inputs import FEW, RANDOMS, SEEDS, frame_of, hourly, lengths
from tests.contract.table import covers
from tests.tiny_model import CONTEXT_LENGTH, HORIZON


@covers("length-short")
@FEW
@given(lengths(1, 40), st.integers(1, 30), st.integers(1, 20))
def test_training_takes_what_fits_and_says_what_became_of_each_series(
    chosen: dict[str, int], context_length: int, horizon: int
) -> None:
    INPUTS[CURRENT[0]] += 1
    panel = prepare(frame_of({**chosen, "long": 60})).panel
    parts = FractionSplit(train=1.0, validation=0.0).cut(panel)

    index = training_windows(panel, parts, context_length=context_length, horizon=horizon)
    report = window_report(panel, index, context_length=context_length)

    assert sorted((*report.whole, *report.padded, *report.left_out)) == sorted(panel.ids)
    assert report.left_out == tuple(name for name in panel.ids if chosen.get(str(name), 60) < 2)
    assert all(chosen.get(str(name), 60) >= context_length + horizon for name in report.whole)
    assert str(report).startswith(f"{len(report.whole)} series whole, {len(report.padded)} padded")


@covers("length-short")
def test_only_where_nothing_fits_it_is_an_error_that_names_the_length_needed() -> None:
    INPUTS[CURRENT[0]] += 1
    panel = prepare(frame_of({"a": 1, "b": 1}), DataContract(frequency="h")).panel
    parts = FractionSplit(train=1.0, validation=0.0).cut(panel)
    with pytest.raises(SeriesTooShort, match="a window needs at least 2 steps"):
        training_windows(panel, parts, context_length=24, horizon=6)


@covers("length-one")
@FEW
@given(hourly(2), st.floats(-1e9, 1e9), RANDOMS)
def test_a_series_of_one_value_stays_there_and_says_so(
    room: Room, frame: pl.DataFrame, value: float, random: Any
) -> None:
    one = frame_of({"one": 1}).with_columns(y=pl.lit(value))

    answer = everywhere(room, pl.concat([frame, one]), random=random)

    assert (answer.of("one")[:, 2:].to_numpy() == value).all()
    assert "series 'one': one of its newest 1 steps has a value; its forecast repeats it" in answer.told
    assert set(answer.ids) == {*frame["unique_id"], "one"}
    assert "naive" in room.http(pl.concat([frame, one])).told


@covers("length-one")
@FEW
@given(hourly(2), st.integers(0, 5), st.integers(CONTEXT_LENGTH, 2 * CONTEXT_LENGTH))
def test_a_series_without_a_value_of_late_stays_at_its_newest(
    room: Room, frame: pl.DataFrame, before: int, missing: int
) -> None:
    stale = frame_of({"stale": before + 1 + missing})
    stale = stale.with_columns(y=pl.when(pl.int_range(pl.len()) <= before).then("y"))

    answer = everywhere(room, pl.concat([frame, stale]))

    assert (answer.of("stale")[:, 2:].to_numpy() == stale["y"][before]).all()
    assert "series 'stale': none of its newest 24 steps has a value" in answer.told
    assert np.isfinite(answer.numbers).all()


@covers("length-one")
@FEW
@given(hourly(2), st.integers(1, 40))
def test_a_series_without_one_value_is_named_and_the_others_are_served(
    room: Room, frame: pl.DataFrame, length: int
) -> None:
    silent = frame_of({"silent": length}).with_columns(y=pl.lit(None, pl.Float64))

    answer = everywhere(room, pl.concat([frame, silent]))

    assert set(answer.ids) == set(frame["unique_id"])
    assert "series 'silent': none of its newest" in answer.told
    assert all("silent" in text for text in refused_everywhere(room, silent))


@covers("length-patches")
@FEW
@given(st.integers(1, CONTEXT_LENGTH + 5), SEEDS, st.sampled_from([0.5, -3.0, 100.0]))
def test_the_newest_value_always_counts(room: Room, length: int, seed: int, change: float) -> None:
    frame = frame_of({"a": length}, seed=seed)
    newest = pl.int_range(pl.len()) == pl.len() - 1

    before = everywhere(room, frame)
    after = everywhere(room, frame.with_columns(y=pl.when(newest).then(pl.col("y") + change).otherwise("y")))

    assert (before.numbers != after.numbers).any()
    assert np.isfinite(after.numbers).all()


@covers("length-any")
@FEW
@given(st.integers(1, 80), st.integers(1, 5 * HORIZON), SEEDS)
def test_any_history_and_any_horizon_give_a_finite_forecast(room: Room, length: int, horizon: int, seed: int) -> None:
    answer = everywhere(room, frame_of({"a": length, "b": 30}, seed=seed), horizon=horizon)

    assert answer.frame.height == 2 * horizon
    assert np.isfinite(answer.numbers).all()


@covers("length-ends")
@FEW
@given(lengths(2, 60), RANDOMS)
def test_each_series_goes_on_from_its_own_end(room: Room, chosen: dict[str, int], random: Any) -> None:
    frame = frame_of(chosen)

    answer = everywhere(room, frame, random=random, horizon=3)

    for name in chosen:
        last = frame.filter(unique_id=name)["ds"].max()
        assert (answer.of(name)["ds"] - last).dt.total_hours().to_list() == [1, 2, 3]


@covers("length-stranger")
@FEW
@given(st.sampled_from(["never seen", "ü", "0", "a/b", "a'b"]), st.floats(-1e6, 1e6), SEEDS)
def test_a_stranger_is_forecast_from_its_own_past(room: Room, name: str, level: float, seed: int) -> None:
    stranger = frame_of({name: 30}, seed=seed).with_columns(pl.col("y") + level)

    answer = everywhere(room, stranger)

    spread = stranger["y"].max() - stranger["y"].min()
    assert answer.ids == [name]
    assert (np.abs(answer.frame["mean"].to_numpy() - level - 10) < 10 * spread).all()


@covers("length-last-batch")
@FEW
@given(st.integers(1, 40), SEEDS)
def test_a_metric_is_the_same_for_every_batch_size(room: Room, batch_size: int, seed: int) -> None:
    INPUTS[CURRENT[0]] += 1
    panel = prepare(frame_of({"a": 60, "b": 47}, seed=seed)).panel
    parts = FractionSplit().cut(panel)
    units = train_units(panel, parts.train_end)
    scales = SeriesScales.measure(panel, ends=parts.train_end, units=units, season_length=1)
    windows = windows_of_test_part(parts, horizon=3)

    def overall(size: int) -> dict[str, float]:
        contender = ModelContender(room.predictor.artifact.model)
        return evaluate(contender, panel, windows, horizon=3, scales=scales, batch_size=size).overall()

    assert overall(batch_size) == pytest.approx(overall(1_000), rel=1e-6)
