"""Every spelling of a frequency is read, and written back canonically."""

import pytest

from forecast.errors import FrequencyError
from forecast.frames.frequency import Frequency


@pytest.mark.parametrize(
    ("spellings", "text", "season_length"),
    [
        (("h", "H", "1h", "60min", "60T", "60m", " h "), "h", 24),
        (("30min", "30T", "30m"), "30min", 48),
        (("15min", "15T", "15m"), "15min", 96),
        (("1h30min", "1h30m", "90T"), "90min", 16),
        (("min", "T", "1m"), "min", 1440),
        (("s", "S", "1s"), "s", 3600),
        (("ms", "L", "1ms"), "ms", 1),
        (("us", "U"), "us", 1),
        (("ns", "N"), "ns", 1),
        (("7h",), "7h", 1),
        (("D", "d", "1d"), "D", 7),
        (("2D", "2d"), "2D", 1),
        (("B", "1B"), "B", 5),
        (("2B",), "2B", 1),
        (("W", "W-SUN", "W-sun"), "W-SUN", 52),
        (("W-MON", "1W-MON"), "W-MON", 52),
        (("2W-FRI",), "2W-FRI", 26),
        (("3W-FRI",), "3W-FRI", 1),
        (("1w", "w", "7D", "7d"), "1w", 52),
        (("1mo", "mo"), "1mo", 12),
        (("1q",), "1q", 4),
        (("1y",), "1y", 1),
        (("MS",), "MS", 12),
        (("M", "ME"), "ME", 12),
        (("2MS",), "2MS", 6),
        (("5ME",), "5ME", 1),
        (("BM", "BME"), "BME", 12),
        (("BMS",), "BMS", 12),
        (("QS", "QS-JAN"), "QS-JAN", 4),
        (("Q", "QE", "QE-DEC", "Q-DEC"), "QE-DEC", 4),
        (("QS-FEB",), "QS-FEB", 4),
        (("BQ", "BQE"), "BQE-DEC", 4),
        (("BQS",), "BQS-JAN", 4),
        (("YS", "AS", "AS-JAN"), "YS-JAN", 1),
        (("Y", "A", "YE", "A-DEC"), "YE-DEC", 1),
        (("BA", "BY", "BYE"), "BYE-DEC", 1),
        (("BAS", "BYS"), "BYS-JAN", 1),
        (("1", 1), "1", 1),
        (("3600", 3600), "3600", 1),
    ],
)
def test_spellings_of_one_frequency_are_equal(spellings: tuple[str | int, ...], text: str, season_length: int) -> None:
    frequencies = {Frequency.parse(spelling) for spelling in spellings}

    assert frequencies == {Frequency.parse(text)}
    assert {frequency.text for frequency in frequencies} == {text}
    assert {frequency.season_length for frequency in frequencies} == {season_length}


@pytest.mark.parametrize(
    "text", ["", "hourly", "W-FOO", "QS-FOO", "D-MON", "MS-JAN", "0h", "0", "-1h", "h-MON", "1d12h", "SM", "1.5h"]
)
def test_text_that_spells_no_frequency_is_refused_by_name(text: str) -> None:
    with pytest.raises(FrequencyError, match=r"is not known; write for example 'h'") as caught:
        Frequency.parse(text)

    assert repr(text) in str(caught.value)
