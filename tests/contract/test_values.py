"""Values: missing, constant, huge, of any type, never negative, infinite."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.frames.contract import prepare
from forecast.metrics import SeriesScales
from pipelines.contender import ModelContender
from pipelines.evaluation import evaluate
from pipelines.split import FractionSplit, train_units
from pipelines.windows import test_windows as windows_of_test_part
from tests.contract.faces import CURRENT, INPUTS, Room, everywhere, refused_everywhere
from tests.contract.inputs import FEW, MORE, RANDOMS, SEEDS, frame_of, hourly, wave
from tests.contract.table import covers
from tests.contract.told import told_frames, told_room

Rooms = Callable[..., Room]


def of(values: Any) -> pl.DataFrame:
    """One series of these values, on the hours of `frame_of`."""
    frame = frame_of({"a": len(values)})
    return frame.with_columns(y=values if isinstance(values, pl.Series) else pl.Series(values))


# ---- Missing


@covers("values-missing")
@MORE
@given(st.lists(st.booleans(), min_size=5, max_size=60).filter(any), st.sampled_from([None, float("nan")]), RANDOMS)
def test_missing_targets_are_masked(room: Room, seen: list[bool], hole: float | None, random: Any) -> None:
    values = [value if known else hole for value, known in zip(wave(len(seen)).tolist(), seen, strict=True)]
    frame = pl.concat([of(pl.Series(values, dtype=pl.Float64)), frame_of({"b": 30})])

    answer = everywhere(room, frame, random=random)

    assert np.isfinite(answer.numbers).all()
    nulls = frame.with_columns(pl.col("y").fill_nan(None))
    assert np.array_equal(answer.numbers, room.python(nulls).numbers)


@covers("values-missing")
@FEW
@given(SEEDS, st.sets(st.integers(0, 29), max_size=20), RANDOMS)
def test_missing_covariates_of_the_past_are_masked(rooms: Rooms, seed: int, holes: set[int], random: Any) -> None:
    frame, future = told_frames({"a": 30, "c": 20}, seed=seed)
    step = pl.int_range(pl.len()).is_in(sorted(holes))
    known = [pl.when(~step).then(name).alias(name) for name in ("wind", "price", "event")]

    answer = everywhere(told_room(rooms), frame.with_columns(known), future=future, random=random)

    assert np.isfinite(answer.numbers).all()


@covers("values-missing")
@FEW
@given(SEEDS, st.integers(0, 5), st.sampled_from(["price", "event"]))
def test_a_covariate_that_must_be_known_and_is_not_is_refused_and_named(
    rooms: Rooms, seed: int, step: int, name: str
) -> None:
    frame, future = told_frames({"a": 30, "c": 20}, seed=seed)
    hole = (pl.col("unique_id") == "c") & (pl.int_range(pl.len()).over("unique_id") == step)

    answer = everywhere(told_room(rooms), frame, future=future.with_columns(pl.when(~hole).then(name).alias(name)))

    assert answer.ids == ["a"]
    assert f"series 'c': '{name}' must be known" in answer.told
    assert str(future.filter(hole)["ds"][0]) in answer.told


# ---- Constant


@covers("values-constant")
@MORE
@given(
    st.one_of(st.integers(-(10**6), 10**6).map(float), st.floats(-1e20, 1e20), st.just(0.0)),
    st.integers(1, 60),
    RANDOMS,
)
def test_what_never_moves_comes_out_as_it_is(room: Room, value: float, length: int, random: Any) -> None:
    frame = pl.concat([of([value] * length), frame_of({"b": 30})])

    answer = everywhere(room, frame, random=random)

    assert (answer.of("a")[:, 2:].to_numpy() == value).all()


# ---- Huge


@covers("values-huge")
@MORE
@given(SEEDS, st.sampled_from([1e20, 1e100, 1e-20, 1e150]))
def test_huge_and_tiny_values_have_a_finite_forecast(room: Room, seed: int, size: float) -> None:
    frame = frame_of({"a": 30}, seed=seed)

    answer = everywhere(room, frame.with_columns(pl.col("y") * size))

    assert np.isfinite(answer.numbers).all()
    plain = room.python(frame).frame["mean"].to_numpy()
    np.testing.assert_allclose(answer.frame["mean"].to_numpy() / size, plain, rtol=1e-4)


@covers("values-huge")
@FEW
@given(st.integers(-(2**53), 2**53), st.integers(1, 40))
def test_integers_to_two_to_the_fifty_third_are_repeated_exactly(room: Room, value: int, length: int) -> None:
    answer = everywhere(room, of([value] * length))

    assert set(answer.frame["mean"].cast(pl.Int64)) == {value}


# ---- Types

TYPES = (pl.Int8, pl.Int64, pl.UInt16, pl.Float32, pl.Float64, pl.Boolean)


@covers("values-types")
@MORE
@given(st.lists(st.integers(0, 1), min_size=2, max_size=40), st.sampled_from(TYPES))
def test_any_numeric_type_is_read_alike(room: Room, values: list[int], dtype: Any) -> None:
    answer = everywhere(room, of(pl.Series(values).cast(dtype)), faces=("python", "command line"))

    assert np.array_equal(answer.numbers, everywhere(room, of([float(value) for value in values])).numbers)


@covers("values-types")
@FEW
@given(st.lists(st.decimals(-1000, 1000, places=2), min_size=2, max_size=40))
def test_decimals_are_read_as_their_numbers(room: Room, values: list[Decimal]) -> None:
    answer = everywhere(room, of(pl.Series(values)), faces=("python", "command line"))

    assert np.array_equal(answer.numbers, room.python(of([float(value) for value in values])).numbers)


@covers("values-types")
@FEW
@given(st.lists(st.text("abc", min_size=1), min_size=2, max_size=20))
def test_text_is_refused_by_name(room: Room, values: list[str]) -> None:
    said = refused_everywhere(room, of(values))

    assert all("column 'y' must hold numbers" in text and repr(values[0]) in text for text in said[:3])
    assert "/series/y" in said[3]


# ---- Counts


@covers("values-counts")
@FEW
@given(st.lists(st.integers(0, 3), min_size=10, max_size=60).filter(lambda values: len(set(values)) > 1))
def test_forecasts_are_cut_at_zero_where_that_is_asked_for(rooms: Rooms, values: list[int]) -> None:
    cut = everywhere(rooms(changes={"non_negative": True}), of([float(value) for value in values]))
    free = everywhere(rooms(), of([float(value) for value in values]))

    assert (cut.numbers >= 0).all()
    assert np.array_equal(cut.numbers, np.maximum(free.numbers, 0))


@covers("values-counts")
def test_it_is_never_chosen_silently(rooms: Rooms) -> None:
    INPUTS[CURRENT[0]] += 1
    assert rooms().predictor.card.model.non_negative is False
    assert (everywhere(rooms(), frame_of({"a": 40}).with_columns(pl.col("y") - 10)).numbers < 0).any()


# ---- A metric without a scale


@covers("values-season")
@FEW
@given(st.integers(2, 6), st.booleans(), SEEDS)
def test_a_series_that_repeats_its_season_is_left_out_of_the_mean_of_mase_and_counted(
    room: Room, season: int, flat: bool, seed: int
) -> None:
    INPUTS[CURRENT[0]] += 1
    perfect = np.zeros(60) if flat else np.arange(60) % season
    frame = pl.concat([of(perfect.astype(float)), frame_of({"b": 60}, seed=seed)])

    def scores(part: pl.DataFrame) -> Any:
        panel = prepare(part).panel
        parts = FractionSplit().cut(panel)
        units = train_units(panel, parts.train_end)
        scales = SeriesScales.measure(panel, ends=parts.train_end, units=units, season_length=season)
        windows = windows_of_test_part(parts, horizon=3)
        return evaluate(ModelContender(room.predictor.artifact.model), panel, windows, horizon=3, scales=scales)

    both, alone = scores(frame), scores(frame.filter(unique_id="b"))

    assert both.overall()["mase"] == pytest.approx(alone.overall()["mase"], rel=1e-5)
    assert both.num_excluded("mase") == 1


# ---- Infinite


@covers("values-infinite")
@FEW
@given(hourly(2), st.integers(0, 19), st.integers(1, 5), st.sampled_from([float("inf"), -float("inf")]))
def test_infinite_values_are_refused_and_named_and_the_other_series_served(
    room: Room, frame: pl.DataFrame, first: int, count: int, value: float
) -> None:
    place = pl.int_range(pl.len()).is_between(first, min(first + count, 20) - 1)
    bad = frame_of({"bad": 20}).with_columns(y=pl.when(place).then(value).otherwise("y"))

    answer = everywhere(room, pl.concat([frame, bad]), faces=("python", "command line"))

    assert set(answer.ids) == set(frame["unique_id"])
    found = f"series 'bad': column 'y' has {min(count, 20 - first)} infinite values, the first at {bad['ds'][first]}"
    assert found in answer.told
    said = refused_everywhere(room, bad)
    assert all(found in text for text in said[:3])
    assert "/series/y" in said[3] or "malformed" in said[3] or "JSON" in said[3]
