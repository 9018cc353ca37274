"""Time: anchors, spellings, months, zones, integers and text, and the order of rows."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.frames.contract import DataContract, prepare
from tests.contract.faces import Room, everywhere, refused_everywhere, shuffled
from tests.contract.inputs import FEW, MORE, RANDOMS, SEEDS, frame_of, hourly, lengths, wave
from tests.contract.table import FRAMES, covers
from tests.contract.told import told_frames, told_room

Rooms = Callable[..., Room]
WEEKDAYS = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC", "Asia/Kathmandu")


# ---- Weeks


@covers("time-weeks")
@FEW
@given(st.sampled_from(WEEKDAYS), st.integers(3, 40), SEEDS)
def test_the_day_that_weeks_start_on_is_read_from_the_stamps(rooms: Rooms, day: str, length: int, seed: int) -> None:
    frame = frame_of({"a": length, "b": 5}, every=f"W-{day}", seed=seed)

    answer = everywhere(rooms(frequency=f"W-{day}"), frame)

    assert prepare(frame).panel.axis.frequency.text == f"W-{day}"
    assert (answer.of("a")["ds"] - frame.filter(unique_id="a")["ds"][-1]).dt.total_days().to_list() == [
        7 * step for step in range(1, 7)
    ]


@covers("time-weeks")
@FEW
@given(st.sampled_from(WEEKDAYS), st.sampled_from(WEEKDAYS), st.integers(3, 40))
def test_weeks_that_start_on_another_day_are_refused_with_the_spelling_to_use(
    rooms: Rooms, said: str, day: str, length: int
) -> None:
    if said == day:
        return
    frame = frame_of({"a": length}, every=f"W-{day}")

    texts = refused_everywhere(rooms(frequency=f"W-{said}"), frame)

    assert all(f"W-{said}" in text for text in texts)
    assert all(f"they step by 'W-{day}'" in text for text in texts[:3])


# ---- Faults of some series


@covers("time-faults")
@FEW
@given(hourly(3, 30), st.integers(0, 9), st.integers(1, 9))
def test_duplicates_of_one_series_are_named_and_the_others_are_served(
    room: Room, frame: pl.DataFrame, first: int, count: int
) -> None:
    bad = frame_of({"bad": 20})
    bad = pl.concat([bad, bad[first : first + count]])

    answer = everywhere(room, pl.concat([frame, bad]), faces=FRAMES)

    assert set(answer.ids) == set(frame["unique_id"])
    stamp = bad["ds"][first]
    assert (
        f"series 'bad': column 'ds' has {count} rows for a step that has one already, the first at {stamp}"
        in answer.told
    )
    assert "on_duplicate" in answer.told


@covers("time-faults")
@FEW
@given(hourly(3, 30), st.integers(1, 10), st.integers(1, 8))
def test_gaps_are_steps_without_a_value(room: Room, frame: pl.DataFrame, first: int, count: int) -> None:
    whole = pl.concat([frame_of({"gap": 20}), frame])
    step = pl.int_range(pl.len()).over("unique_id")
    inside = (pl.col("unique_id") == "gap") & step.is_between(first, first + count - 1)

    answer = everywhere(room, whole.filter(~inside), faces=FRAMES)

    assert np.array_equal(answer.numbers, everywhere(room, whole.with_columns(y=pl.when(~inside).then("y"))).numbers)
    (finding,) = prepare(whole.filter(~inside), DataContract(frequency="h")).report.of_kind("gaps")
    assert (finding.series, finding.count) == ("gap", count)


@covers("time-faults")
@FEW
@given(hourly(3, 30), st.integers(1, 10), st.integers(1, 8))
def test_gaps_are_refused_by_name_where_that_is_asked_for(
    rooms: Rooms, frame: pl.DataFrame, first: int, count: int
) -> None:
    gap = frame_of({"gap": 20})
    gap = pl.concat([gap[:first], gap[first + count :]])

    answer = everywhere(rooms(contract=DataContract(on_gap="refuse")), pl.concat([frame, gap]), faces=FRAMES)

    assert f"series 'gap': column 'ds' has {count} absent steps, the first at" in answer.told
    assert "on_gap" in answer.told
    assert set(answer.ids) == set(frame["unique_id"])


@covers("time-faults")
@FEW
@given(hourly(3, 30), st.integers(0, 19), st.integers(1, 59))
def test_a_stray_stamp_of_one_series_is_named(room: Room, frame: pl.DataFrame, place: int, minutes: int) -> None:
    stray = pl.col("ds") + pl.duration(minutes=minutes)
    bad = frame_of({"bad": 20}).with_columns(ds=pl.when(pl.int_range(pl.len()) == place).then(stray).otherwise("ds"))

    answer = everywhere(room, pl.concat([frame, bad]), faces=FRAMES)

    assert f"1 stamps that are not on the steps of 'h', the first at {bad['ds'][place]}" in answer.told
    assert set(answer.ids) == set(frame["unique_id"])


# ---- Zones


@covers("time-zones")
@MORE
@given(st.sampled_from(ZONES), st.sampled_from([2, 3, 10, 11]), st.integers(0, 31 * 24), st.integers(24, 60), RANDOMS)
def test_hours_over_a_clock_change_are_all_an_hour_apart(
    room: Room, zone: str, month: int, hour: int, length: int, random: Any
) -> None:
    start = datetime(2024, month, 1) + timedelta(hours=hour)
    frame = frame_of({"a": length}, start=start).with_columns(
        pl.col("ds").dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    )

    answer = everywhere(room, frame, random=random)

    assert answer.frame.schema["ds"] == pl.Datetime("us", zone)
    assert set(answer.frame["ds"].diff().drop_nulls()) == {timedelta(hours=1)}
    assert answer.frame["ds"][0] - frame["ds"][-1] == timedelta(hours=1)
    assert not {finding.kind for finding in prepare(frame).report.findings} & {"gaps", "duplicates"}


@covers("time-zones")
@FEW
@given(st.sampled_from(ZONES), st.sampled_from([3, 4, 9, 10]), st.integers(1, 28), st.integers(20, 50))
def test_days_over_a_clock_change_keep_the_hour_of_the_wall(
    rooms: Rooms, zone: str, month: int, day: int, length: int
) -> None:
    local = pd.date_range(datetime(2024, month, day, 12), periods=length, freq="D", tz=zone)
    frame = pl.DataFrame({"unique_id": ["a"] * length, "ds": pl.from_pandas(pd.Series(local)), "y": wave(length)})

    answer = everywhere(rooms(frequency="D"), frame)

    assert set(answer.frame["ds"].dt.hour()) == {12}
    assert not prepare(frame).report.of_kind("gaps")


@covers("time-zones")
@pytest.mark.parametrize("month", [3, 10])
@FEW
@given(st.integers(0, 23), SEEDS)
def test_local_times_without_a_zone_are_read_in_that_of_the_contract(
    rooms: Rooms, month: int, hour: int, seed: int
) -> None:
    zone = "Europe/Berlin"
    instants = pd.date_range(datetime(2024, month, 30 if month == 3 else 26, hour), periods=40, freq="h", tz="UTC")
    local = pl.from_pandas(pd.Series(instants.tz_convert(zone).tz_localize(None)))
    frame = pl.DataFrame({"unique_id": ["a"] * 40, "ds": local, "y": wave(40, seed=seed)})

    answer = everywhere(rooms(contract=DataContract(zone=zone)), frame, faces=FRAMES)

    after = pd.date_range(instants[-1], periods=7, freq="h")[1:].tz_convert(zone).tz_localize(None)
    assert answer.stamps == after.to_pydatetime().tolist()


# ---- Spellings

SPELLINGS = (
    ("H", "h"),
    ("60min", "h"),
    ("1h", "h"),
    ("T", "min"),
    ("S", "s"),
    ("M", "ME"),
    ("1mo", "ME"),
    ("Q", "QE"),
    ("A", "YE"),
    ("BM", "BME"),
)


@covers("time-spellings")
@FEW
@given(st.sampled_from(SPELLINGS), st.integers(3, 40), SEEDS)
def test_old_and_new_spellings_are_one(rooms: Rooms, pair: tuple[str, str], length: int, seed: int) -> None:
    old, new = pair
    frame = frame_of({"a": length}, every=new, seed=seed)

    by_old, by_new = (everywhere(rooms(), frame, frequency=text) for text in pair)
    by_card = everywhere(rooms(frequency=old), frame)

    assert by_old.frame.equals(by_new.frame)
    assert by_card.frame.equals(by_new.frame)


# ---- Months and business days


@covers("time-months")
@MORE
@given(
    st.sampled_from(["ME", "MS", "QE-DEC", "QS-FEB", "YE-JUN", "BME", "BMS", "B", "SME-15", "SMS-15", "2ME"]),
    st.integers(4, 40),
    st.integers(0, 2_000),
)
def test_future_stamps_go_on_in_the_pattern(rooms: Rooms, every: str, length: int, shift: int) -> None:
    start = datetime(2015, 1, 1) + timedelta(days=shift)
    frame = frame_of({"a": length}, every=every, start=start)

    answer = everywhere(rooms(frequency=every), frame)

    after = pd.date_range(frame["ds"][-1], periods=7, freq=every)[1:]
    assert answer.stamps == after.to_pydatetime().tolist()


@covers("time-months")
@FEW
@given(st.integers(1, 31), st.integers(13, 40), st.integers(0, 11))
def test_months_go_on_at_the_day_that_they_have_had(rooms: Rooms, day: int, length: int, month: int) -> None:
    first = pd.Timestamp(2016 + month // 12, 1, 1) + pd.DateOffset(months=month)
    every = [first + pd.DateOffset(months=step, day=day) for step in range(length + 6)]
    stamps = pl.Series([stamp.to_pydatetime() for stamp in every], dtype=pl.Datetime("us"))
    frame = pl.DataFrame({"unique_id": ["a"] * length, "ds": stamps[:length], "y": wave(length)})

    answer = everywhere(rooms(frequency="1mo"), frame, faces=FRAMES)

    assert answer.stamps == stamps[length:].to_list()


# ---- Integers, text, floats


@covers("time-kinds")
@FEW
@given(st.integers(1, 1_000), st.integers(-(10**9), 10**9), st.integers(3, 40), st.sampled_from([pl.Int32, pl.Int64]))
def test_integers_are_steps(rooms: Rooms, stride: int, first: int, length: int, dtype: Any) -> None:
    stamps = pl.Series([first + stride * step for step in range(length)], dtype=dtype)
    frame = pl.DataFrame({"unique_id": ["a"] * length, "ds": stamps, "y": wave(length)})

    answer = everywhere(rooms(frequency="1"), frame, frequency=str(stride))

    assert answer.frame.schema["ds"] == dtype
    assert answer.stamps == [first + stride * (length + step) for step in range(6)]


@covers("time-kinds")
@FEW
@given(
    st.sampled_from(["%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S+00:00"]),
    hourly(3, 30),
)
def test_iso_text_is_read_and_written_as_it_came(room: Room, pattern: str, frame: pl.DataFrame) -> None:
    text = frame.with_columns(pl.col("ds").dt.to_string(pattern))

    answer = everywhere(room, text)

    assert np.array_equal(answer.numbers, room.python(frame).numbers)
    assert answer.stamps == room.python(frame).frame["ds"].dt.to_string(pattern).to_list()


@covers("time-kinds")
@FEW
@given(st.sampled_from(["%d/%m/%Y %H:%M", "%d.%m.%Y %H:%M", "%m/%d/%Y %I:%M %p"]), hourly(26, 60))
def test_other_text_is_refused_with_the_pattern_to_give_and_then_read(
    rooms: Rooms, pattern: str, frame: pl.DataFrame
) -> None:
    text = frame.with_columns(pl.col("ds").dt.to_string(pattern))

    said = refused_everywhere(rooms(), text, faces=FRAMES)
    answer = everywhere(rooms(contract=DataContract(time_format=pattern)), text, faces=FRAMES)

    assert all("column 'ds' holds text that is not ISO 8601" in one and pattern in one for one in said)
    assert answer.stamps == rooms().python(frame).frame["ds"].dt.to_string(pattern).to_list()


@covers("time-kinds")
@FEW
@given(st.sampled_from([1.0, 0.5, 3600.25]), st.floats(-1e6, 1e9))
def test_floats_are_refused_by_name(rooms: Rooms, stride: float, first: float) -> None:
    frame = pl.DataFrame({"unique_id": ["a"] * 9, "ds": [first + stride * step for step in range(9)], "y": wave(9)})

    said = refused_everywhere(rooms(frequency="1"), frame)

    assert all(
        "column 'ds' must hold datetimes, dates, text or whole numbers, it holds Float64" in one for one in said[:3]
    )
    assert "start" in said[3]


# ---- Types


@covers("time-types")
@MORE
@given(st.sampled_from(["ms", "us", "ns"]), st.sampled_from([None, *ZONES]), hourly(3, 30))
def test_dtype_unit_and_zone_come_back(room: Room, unit: Any, zone: str | None, frame: pl.DataFrame) -> None:
    stamps = pl.col("ds").dt.cast_time_unit(unit)
    if zone:
        stamps = stamps.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    typed = frame.with_columns(stamps)

    answer = everywhere(room, typed)

    assert answer.frame.schema["ds"] == pl.Datetime(unit, zone)
    assert room.command_line(typed).frame.schema["ds"] == pl.Datetime(unit, zone)
    assert np.array_equal(answer.numbers, room.python(frame).numbers)


@covers("time-types")
@FEW
@given(lengths(3, 30), st.sampled_from([pl.String, pl.Categorical, pl.Int64, pl.Int16]))
def test_dates_and_ids_of_any_type_come_back(rooms: Rooms, chosen: dict[str, int], dtype: Any) -> None:
    frame = frame_of(chosen, every="D").with_columns(pl.col("ds").cast(pl.Date))
    numbers = {name: place for place, name in enumerate(chosen)}
    ids = pl.col("unique_id") if dtype in (pl.String, pl.Categorical) else pl.col("unique_id").replace_strict(numbers)

    answer = everywhere(rooms(frequency="D"), frame.with_columns(ids.cast(dtype)), faces=FRAMES)

    assert answer.frame.schema["ds"] == pl.Date
    assert answer.frame.schema["unique_id"] == dtype


# ---- Two rows


@covers("time-two-rows")
@FEW
@given(st.integers(1, 2), st.sampled_from(["h", "D", "W-MON", "ME", "B"]), SEEDS)
def test_a_short_history_steps_as_the_model_or_as_said(rooms: Rooms, length: int, every: str, seed: int) -> None:
    frame = frame_of({"a": length}, every=every, seed=seed)

    by_card, by_word = everywhere(rooms(frequency=every), frame), everywhere(rooms(), frame, frequency=every)

    expected = pd.date_range(frame["ds"][-1], periods=7, freq=every)[1:].to_pydatetime().tolist()
    assert by_card.stamps == by_word.stamps == expected


@covers("time-two-rows")
@FEW
@given(st.integers(1, 2), SEEDS)
def test_a_future_frame_of_one_or_two_rows_needs_no_frequency_of_its_own(rooms: Rooms, horizon: int, seed: int) -> None:
    frame, future = told_frames({"a": 30}, horizon=horizon, seed=seed)

    answer = everywhere(told_room(rooms), frame, future=future, horizon=horizon)

    assert answer.stamps == future["ds"].to_list()


@covers("time-two-rows")
def test_the_frequency_can_be_given_on_the_command_line_too(room: Room) -> None:
    room.command_line(frame_of({"a": 2}, every="D"), frequency="D")


# ---- Order


@covers("time-order")
@MORE
@given(hourly(), RANDOMS)
def test_rows_and_columns_in_any_order_change_no_number(room: Room, frame: pl.DataFrame, random: Any) -> None:
    everywhere(room, frame, random=random)


@covers("time-order")
@FEW
@given(hourly(), RANDOMS)
def test_columns_in_any_order_leave_the_order_of_the_keys(room: Room, frame: pl.DataFrame, random: Any) -> None:
    mixed = frame.select(random.sample(frame.columns, 3))
    assert room.python(mixed).frame.equals(room.python(frame).frame)


@covers("time-order")
@FEW
@given(st.permutations(["b", "a", "Z", "\xe9"]), RANDOMS)
def test_rows_in_any_order_leave_the_order_of_the_keys(room: Room, names: list[str], random: Any) -> None:
    frame = frame_of(dict.fromkeys(names, 5))
    given = room.python(frame)
    assert given.ids == ["Z", "a", "b", "\xe9"]
    for mixed in (frame[::-1], shuffled(frame, random)):
        for answer in (room.python(mixed), room.python(mixed.to_pandas()), room.command_line(mixed)):
            assert answer.ids == given.ids
            assert answer.stamps == given.stamps


@covers("time-order")
@FEW
@given(st.permutations(["b", "a", "c"]))
def test_a_request_is_answered_in_its_own_order_of_series(room: Room, names: list[str]) -> None:
    assert room.http(frame_of(dict.fromkeys(names, 5))).ids == names


@covers("time-order")
@FEW
@given(st.permutations([10, 9, -1]), RANDOMS)
def test_integers_that_name_series_come_by_value(room: Room, names: list[int], random: Any) -> None:
    assert everywhere(room, frame_of(dict.fromkeys(names, 5)), random=random).ids == [-1, 9, 10]
