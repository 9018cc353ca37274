"""The frequency of a frame: given, contradicted, voted on by all series, or not to be told."""

from typing import Any

import pandas as pd
import polars as pl
import pytest

from forecast.errors import (
    FrequencyError,
)
from forecast.frames.contract import DataContract, prepare
from tests.forecast.frames.daily import FIRST, columns


@pytest.mark.parametrize(
    ("given", "numbers", "message"),
    [
        ("W", [0, 7, 14], "frequency 'W-SUN' contradicts the stamps: 3 of 3 rows.*they step by 'W-MON'"),
        ("MS", [30, 59, 90], "they step by 'ME'"),
        ("ME", [0, 31, 60], "they step by 'MS'"),
        ("QS", [31, 121, 213], "they step by 'QS-FEB'"),
        ("D", [0, 7, 14], None),
        ("B", [4, 5, 6], "contradicts the stamps: 2 of 3 rows.*the first at 2024-01-06.*they step by 'D'"),
        ("1w", [0, 7, 14], None),
        ("1mo", [14, 45, 74], None),
        ("2D", [0, 1, 2], "they step by 'D'"),
    ],
)
def test_a_given_frequency_wins_unless_the_stamps_contradict_it(
    make_frame: Any, given: str, numbers: list[int], message: str | None
) -> None:
    frame = make_frame(columns(a=(numbers, [1.0, 2.0, 3.0])))

    if message is None:
        assert prepare(frame, DataContract(frequency=given)).panel.axis.frequency.text == given
        return
    with pytest.raises(FrequencyError, match=message):
        prepare(frame, DataContract(frequency=given))


def test_all_series_vote_on_the_frequency() -> None:
    frame = pl.DataFrame(
        columns(
            gaps=([0, 2, 4, 9], [1.0, 2.0, 3.0, 4.0]),
            single=([3], [1.0]),
            pair=([0, 2], [1.0, 2.0]),
            daily=(list(range(10)), [1.0] * 10),
        )
    )

    panel = prepare(frame).panel

    assert panel.axis.frequency.text == "D"
    assert dict(zip(panel.ids, panel.lengths.tolist(), strict=True)) == {
        "gaps": 10,
        "single": 1,
        "pair": 3,
        "daily": 10,
    }


def test_duplicates_in_one_series_leave_the_frequency_alone() -> None:
    frame = pl.DataFrame(columns(doubled=([0, 0, 0, 1, 1], [1.0] * 5), b=([0, 1, 2], [1.0] * 3)))

    assert prepare(frame, DataContract(on_duplicate="first")).panel.axis.frequency.text == "D"


def test_a_series_with_a_frequency_of_its_own_is_refused_with_both_spellings() -> None:
    frame = pl.DataFrame(columns(daily=(list(range(30)), [1.0] * 30), weekly=([0, 7, 14, 21], [1.0] * 4)))

    with pytest.raises(
        FrequencyError, match=r"series 'weekly': .*step by 'W-MON' where the frame steps by 'D'.*frequency='D'"
    ):
        prepare(frame)
    assert prepare(frame, DataContract(frequency="D")).panel.lengths.tolist() == [30, 22]


@pytest.mark.parametrize("stray", [0, 3, 9])
def test_a_stray_stamp_is_the_one_that_is_named(stray: int) -> None:
    stamps = [pd.Timestamp(FIRST) + pd.Timedelta(hours=hour, minutes=17 * (hour == stray)) for hour in range(10)]

    with pytest.raises(
        FrequencyError, match=rf"1 stamps that are not on the steps of 'h', the first at {stamps[stray]}"
    ):
        prepare(pd.DataFrame({"ds": stamps, "y": 1.0}))


@pytest.mark.parametrize("numbers", [[0], [0, 0]])
def test_a_frequency_that_cannot_be_read_must_be_given(numbers: list[int]) -> None:
    frame = pl.DataFrame(columns(a=(numbers, [1.0] * len(numbers))))
    contract = DataContract(on_duplicate="last")

    with pytest.raises(FrequencyError, match="no series has two different stamps; give it"):
        prepare(frame, contract)
    assert prepare(frame, DataContract(on_duplicate="last", frequency="D")).panel.lengths.tolist() == [1]
