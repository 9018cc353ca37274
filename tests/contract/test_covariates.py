"""Covariates: what is missing ahead, what is too much, categories that training never saw, frozen codes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from forecast.frames.features import Hour, Weekday
from tests.contract.faces import Room, everywhere, refused_everywhere, shuffled
from tests.contract.inputs import FEW, MORE, RANDOMS, SEEDS, START
from tests.contract.table import FRAMES, covers
from tests.contract.told import LEVELS, told_contract, told_frames, told_room
from tests.tiny_model import HORIZON

Rooms = Callable[..., Room]


@covers("covariates-missing")
@MORE
@given(SEEDS, st.sets(st.integers(0, HORIZON - 1), min_size=1, max_size=HORIZON), RANDOMS)
def test_missing_pairs_are_listed_and_the_other_series_served(
    rooms: Rooms, seed: int, holes: set[int], random: Any
) -> None:
    frame, future = told_frames({"a": 30, "c": 20}, seed=seed)
    step = pl.int_range(pl.len()).over("unique_id")
    lacks = (pl.col("unique_id") == "c") & step.is_in(sorted(holes))

    answer = everywhere(told_room(rooms), frame, future=future.filter(~lacks), faces=FRAMES, random=random)

    assert answer.ids == ["a"]
    pairs = [f"('c', {stamp})" for stamp in future.filter(lacks)["ds"]]
    assert f"at {len(holes)} of them: {', '.join(pairs[:5])}" in answer.told


@covers("covariates-missing")
@FEW
@given(SEEDS, st.integers(0, HORIZON - 1))
def test_cells_without_a_value_are_missing_pairs_by_every_door(rooms: Rooms, seed: int, hole: int) -> None:
    frame, future = told_frames({"a": 30, "c": 20}, seed=seed)
    lacks = (pl.col("unique_id") == "c") & (pl.int_range(pl.len()).over("unique_id") == hole)
    future = future.with_columns(price=pl.when(~lacks).then("price"))

    answer = everywhere(told_room(rooms), frame, future=future)

    assert answer.ids == ["a"]
    assert f"('c', {future.filter(lacks)['ds'][0]})" in answer.told
    assert "/future/price" in told_room(rooms).http(frame, future=future).told


@covers("covariates-missing")
@FEW
@given(SEEDS, st.integers(1, 20))
def test_without_a_future_every_door_says_what_it_needs(rooms: Rooms, seed: int, length: int) -> None:
    frame, _ = told_frames({"a": length}, seed=seed)

    said = refused_everywhere(told_room(rooms), frame)

    assert all("'price', 'event' must be known for the 6 steps of the horizon" in text for text in said[:3])
    assert all("make_future_frame" in text for text in said[:3])
    assert "future" in said[3]


@covers("covariates-missing")
@FEW
@given(SEEDS, st.integers(1, 2 * HORIZON), st.sampled_from(["polars", "pandas"]))
def test_a_template_has_the_rows_that_are_needed(rooms: Rooms, seed: int, horizon: int, like: str) -> None:
    frame, future = told_frames({"a": 30, "c": 20}, horizon=horizon, seed=seed)
    asked = frame.to_pandas() if like == "pandas" else frame

    template = told_room(rooms).predictor.future_template(asked, horizon=horizon)

    template = template if like == "polars" else pl.from_pandas(template)
    assert template.select("unique_id", "ds").equals(future.select("unique_id", "ds"))
    assert template.drop("unique_id", "ds").columns == ["price", "event"]
    everywhere(
        told_room(rooms),
        frame,
        future=template.select("unique_id", "ds").join(future, on=["unique_id", "ds"]),
        horizon=horizon,
    )


@covers("covariates-extra")
@MORE
@given(SEEDS, st.integers(1, 10), st.sampled_from(["longer", "others", "shifted"]), RANDOMS)
def test_rows_of_a_future_frame_that_fit_nowhere_change_nothing_and_are_noticed(
    rooms: Rooms, seed: int, count: int, kind: str, random: Any
) -> None:
    frame, future = told_frames({"a": 30, "c": 20}, seed=seed)
    extra = future.sample(count, seed=seed, with_replacement=False).with_columns(price=pl.lit(99.0))
    match kind:
        case "longer":
            extra = extra.with_columns(pl.col("ds") + pl.duration(hours=HORIZON))
        case "others":
            extra = extra.with_columns(unique_id=pl.lit("nobody") + pl.int_range(pl.len()).cast(pl.String))
        case "shifted":
            extra = extra.with_columns(pl.col("ds") + pl.duration(minutes=20))
    expected = everywhere(told_room(rooms), frame, future=future)

    answer = everywhere(told_room(rooms), frame, future=shuffled(pl.concat([extra, future]), random), faces=FRAMES)

    assert np.array_equal(answer.numbers, expected.numbers)
    assert f"{count} rows of covariates" in answer.told
    assert "not used" in answer.told


@covers("covariates-extra")
@MORE
@given(SEEDS, st.integers(1, 29), st.sampled_from(["nearest", "floor"]), RANDOMS)
def test_rows_of_a_future_frame_between_the_steps_are_moved_where_those_of_the_history_are(
    rooms: Rooms, seed: int, shift: int, policy: str, random: Any
) -> None:
    room = told_room(rooms, on_irregular=policy)
    frame, future = told_frames({"a": 30, "c": 20}, seed=seed)
    expected = everywhere(room, frame, future=future)
    beside = pl.duration(minutes=pl.lit(pl.Series([shift * (step % 2) for step in range(len(future))])))

    answer = everywhere(
        room, frame, future=shuffled(future.with_columns(pl.col("ds") + beside), random), faces=FRAMES, random=random
    )

    assert np.array_equal(answer.numbers, expected.numbers)
    assert "not used" not in answer.told


@covers("time-kinds")
@FEW
@given(SEEDS, st.integers(2, 40), st.integers(1, 5))
def test_steps_that_have_no_calendar_are_refused_where_a_model_is_told_one(
    rooms: Rooms, seed: int, length: int, stride: int
) -> None:
    room = told_room(rooms, calendar=(Hour(), Weekday()))
    frame, future = told_frames({"a": length, "c": 20}, seed=seed)
    everywhere(room, frame, future=future)
    numbers = [
        part.with_columns(ds=pl.col("ds").sub(START).dt.total_hours() * stride).with_columns(
            pl.col("ds").cast(pl.Int64)
        )
        for part in (frame, future)
    ]

    said = refused_everywhere(room, numbers[0], future=numbers[1], frequency=str(stride))

    assert all(f"calendar features that steps of '{stride}' do not have" in text for text in said)


@covers("covariates-unknown")
@MORE
@given(SEEDS, st.sampled_from(["hail", "Fair", "", "ü", "0"]), st.sampled_from(["event", "region"]), RANDOMS)
def test_a_category_that_training_never_saw_is_unknown_with_a_warning(
    rooms: Rooms, seed: int, level: str, name: str, random: Any
) -> None:
    frame, future = told_frames({"a": 30, "c": 20}, seed=seed)
    strange = [
        part.with_columns(pl.lit(level).alias(name)) if name in part.columns else part for part in (frame, future)
    ]

    answer = everywhere(told_room(rooms), strange[0], future=strange[1], random=random)

    assert np.isfinite(answer.numbers).all()
    assert f"column '{name}' has" in answer.told
    assert "a category that training never saw" in answer.told
    other = [
        part.with_columns(pl.lit("another").alias(name)) if name in part.columns else part for part in (frame, future)
    ]
    assert np.array_equal(answer.numbers, told_room(rooms).python(other[0], future=other[1]).numbers)
    assert "unknown_category" in told_room(rooms).http(strange[0], future=strange[1]).told


@covers("covariates-unknown")
def test_the_vocabulary_is_kept_in_the_artifact(rooms: Rooms) -> None:
    frame, future = told_frames({"a": 30})
    everywhere(told_room(rooms), frame, future=future)
    (_, event) = told_room(rooms).predictor.card.covariates.future
    assert event.levels == LEVELS


@covers("covariates-codes")
@MORE
@given(SEEDS, st.permutations([*LEVELS, "unused", "never"]), st.sampled_from(["enum", "categorical", "one level"]))
def test_codes_are_those_of_training_whatever_levels_a_frame_has(
    rooms: Rooms, seed: int, order: list[str], kind: str
) -> None:
    frame, future = told_frames({"a": 30, "c": 20}, seed=seed)
    if kind == "one level":
        frame, future = (part.with_columns(event=pl.lit("game")) for part in (frame, future))
    expected = everywhere(told_room(rooms), frame, future=future)
    dtype = pl.Enum(order) if kind == "enum" else pl.Categorical()
    typed = [part.with_columns(pl.col("event").cast(dtype)) for part in (frame, future)]

    answer = everywhere(told_room(rooms), typed[0], future=typed[1])

    assert np.array_equal(answer.numbers, expected.numbers)


@covers("covariates-codes")
@FEW
@given(st.permutations(["a", "unused", "c", "never"]), SEEDS)
def test_ids_that_no_row_has_give_no_rows(rooms: Rooms, order: list[str], seed: int) -> None:
    frame, future = told_frames({"a": 30, "c": 20}, seed=seed)

    answer = everywhere(
        told_room(rooms), frame.with_columns(pl.col("unique_id").cast(pl.Enum(order))), future=future, faces=FRAMES
    )

    assert answer.ids == ["a", "c"]
    assert told_contract().covariates.future == ("price", "event")
