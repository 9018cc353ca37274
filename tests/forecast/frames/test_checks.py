"""Series that step otherwise than the frame are refused with the step they have; single strays with what to do."""

from datetime import datetime, timedelta

import numpy as np
import polars as pl
import pytest

from forecast.errors import FrequencyError
from forecast.frames.contract import DataContract, prepare

START = datetime(2024, 1, 1)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)


def frame_of(**series: list[datetime]) -> pl.DataFrame:
    names = np.repeat(list(series), [len(stamps) for stamps in series.values()])
    stamps = [stamp for part in series.values() for stamp in part]
    return pl.DataFrame({"unique_id": names, "ds": stamps, "y": np.arange(len(stamps), dtype=np.float64)})


def every(step: timedelta, count: int) -> list[datetime]:
    return [START + number * step for number in range(count)]


def test_a_series_finer_than_the_frame_is_refused_with_its_own_step() -> None:
    frame = frame_of(daily=every(DAY, 200), other=every(DAY, 200), hourly=every(HOUR, 30))

    with pytest.raises(
        FrequencyError,
        match=r"series 'hourly': column 'ds' has 28 stamps that step by 'h' where the frame steps by 'D', the first at "
        r"2024-01-01 01:00:00; send the series apart, or give frequency='h'",
    ):
        prepare(frame)
    kept = prepare(frame, on_bad_series="leave_out")
    assert kept.panel.ids == ("daily", "other")
    assert list(kept.left_out) == ["hourly"]


def test_a_series_finer_than_the_frequency_given_is_refused_with_its_own_step() -> None:
    frame = frame_of(daily=every(DAY, 200), other=every(DAY, 200), hourly=every(HOUR, 30))

    with pytest.raises(FrequencyError, match=r"frequency 'W-MON' contradicts the stamps: .*they step by 'D'"):
        prepare(frame, DataContract(frequency="W-MON"))


def test_a_series_coarser_than_the_frame_is_refused_with_its_own_step() -> None:
    with pytest.raises(FrequencyError, match=r"series 'daily': .*step by 'D' where the frame steps by 'h'"):
        prepare(frame_of(hourly=every(HOUR, 300), daily=every(DAY, 9)))


def test_a_single_stray_is_refused_with_what_moves_it() -> None:
    frame = frame_of(steady=every(HOUR, 50), stray=[*every(HOUR, 50), START + 50.3 * HOUR])

    with pytest.raises(
        FrequencyError,
        match=r"series 'stray': .* has 1 stamps that are not on the steps of 'h'.*on_irregular='nearest'",
    ):
        prepare(frame)


def test_the_series_of_a_frame_may_start_at_phases_of_their_own() -> None:
    late = [stamp + timedelta(minutes=17) for stamp in every(HOUR, 20)]

    axis = prepare(frame_of(early=every(HOUR, 20), late=late)).panel.axis

    assert axis.stamps(0, first=20, count=1).to_list() == [START + 20 * HOUR]
    assert axis.stamps(1, first=20, count=1).to_list() == [START + 20 * HOUR + timedelta(minutes=17)]


def test_many_series_at_fault_are_judged_one_by_one() -> None:
    strays = {f"s{number}": [*every(HOUR, 9), START + 8.5 * HOUR] for number in range(300)}

    kept = prepare(frame_of(steady=every(HOUR, 9), **strays), on_bad_series="leave_out")

    assert kept.panel.ids == ("steady",)
    assert len(kept.left_out) == 300
