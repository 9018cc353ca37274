"""Every spelling of a frequency is read, and written back canonically."""

import re

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
        (("1d12h", "36h", "1D12H"), "36h", 1),
        (("1w2d", "9D"), "9D", 1),
        (("1y6mo", "18mo", "6q"), "6q", 1),
        (("12mo", "4q", "1y"), "1y", 1),
        (("SM", "SME", "SME-15"), "SME-15", 24),
        (("SMS", "SMS-15", "1SMS"), "SMS-15", 24),
        (("2SME-10",), "2SME-10", 12),
        (("WOM-3FRI", "wom-3fri".upper()), "WOM-3FRI", 12),
        (("3LWOM-MON",), "3LWOM-MON", 4),
        (("RE-N-DEC-MON",), "RE-N-DEC-MON", 1),
        (("REQ-L-JAN-SAT-4",), "REQ-L-JAN-SAT-4", 4),
        (("B", "C", "B[mon-fri]", "C[mon, tue, wed, thu, fri]"), "B", 5),
        (("C[sun-thu]", "B[thu, sun-wed]"), "B[sun-thu]", 5),
        (("C[mon,wed , fri]",), "B[mon, wed, fri]", 3),
        (("2B[DE-BY]", "2C[DE-BY]"), "2B[DE-BY]", 1),
        (("C[2024-12-27, US, 2024-03-11]",), "B[US, 2024-03-11, 2024-12-27]", 5),
        (("CBME", "BME", "CBM"), "BME", 12),
        (("CBMS[DE]", "BMS[DE]"), "BMS[DE]", 12),
        (("BQE-NOV[DE]",), "BQE-NOV[DE]", 4),
        (("bh", "BH", "cbh", "bh[09:00-17:00]", "h[mon-fri, 09:00-17:00]"), "bh", 8),
        (("2bh",), "2bh", 4),
        (("3bh",), "3bh", 1),
        (("bh[08:00-12:00, 13:00-18:00]",), "h[mon-fri, 08:00-12:00, 13:00-18:00]", 9),
        (("30min[DE, 09:30-16:00]",), "30min[DE, 09:30-16:00]", 13),
        (("6h[local]", "360min[ local ]", "6h[mon-sun]", "6h[00:00-24:00]"), "6h[local]", 4),
        (("h[mon-fri]",), "h[mon-fri]", 24),
        (("1", 1, "1i"), "1", 1),
        (("3600", 3600), "3600", 1),
    ],
)
def test_spellings_of_one_frequency_are_equal(spellings: tuple[str | int, ...], text: str, season_length: int) -> None:
    frequencies = {Frequency.parse(spelling) for spelling in spellings}

    assert frequencies == {Frequency.parse(text)}
    assert {frequency.text for frequency in frequencies} == {text}
    assert {frequency.season_length for frequency in frequencies} == {season_length}


@pytest.mark.parametrize(
    "text",
    [
        *("", "hourly", "W-FOO", "QS-FOO", "D-MON", "MS-JAN", "0h", "0", "-1h", "h-MON", "1.5h", "2MON", "bd", "EOM"),
        *("WOM-5FRI", "WOM-FRI", "LWOM", "LWOM-FOO", "SME-1", "SMS-28", "SME-15-15", "0SME", "W-MON-TUE", "B-MON"),
        *("RE-N-DEC", "RE-X-DEC-MON", "REQ-N-DEC-MON", "REQ-N-DEC-MON-5", "1mo1d", "1w1mo", "B[DE", "B]DE[", "[DE]"),
    ],
)
def test_text_that_spells_no_frequency_is_refused_by_name(text: str) -> None:
    with pytest.raises(FrequencyError, match=r"is not known; write for example 'h'|brackets say nothing") as caught:
        Frequency.parse(text)

    assert repr(text.partition("[")[0]) in str(caught.value) or repr(text) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("B[Germany]", "'Germany' may not stand in brackets behind a frequency; days of the week"),
        ("B[]", "'' may not stand in brackets"),
        ("B[XX]", "'XX' in brackets behind a frequency: no holidays are known of country 'XX'"),
        ("B[DE-QQ]", "country 'DE' has no subdivision 'QQ'; choose one of BB"),
        ("B[DE, US]", "keeps the holidays of one country"),
        ("B[2024-02-30]", "'2024-02-30' is no date"),
        ("B[09:00-17:00]", "hours of opening say nothing about whole days"),
        ("bh[17:00-09:00]", "'17:00-09:00' are no hours of opening within a day"),
        ("bh[09:75-17:00]", "are no hours of opening within a day"),
        ("bh[09:00-13:00, 12:00-18:00]", "must lie apart, got 09:00-13:00, 12:00-18:00"),
        ("D[DE]", "brackets say nothing about 'D'; they may stand behind hours"),
        ("W-MON[DE]", "brackets say nothing about 'W-MON'"),
        ("1d12h[DE]", "brackets say nothing about '1d12h'"),
        ("ME[DE]", "brackets say nothing about 'ME'"),
        ("24[DE]", "brackets say nothing about '24'"),
        ("h[local]", "steps of 'h' all day and every day are counted in elapsed time"),
        ("7ns[09:00-17:00]", "and finer than a microsecond always"),
    ],
)
def test_brackets_that_say_nothing_sensible_are_refused_with_what_may_stand_there(text: str, message: str) -> None:
    with pytest.raises(FrequencyError, match=re.escape(message)):
        Frequency.parse(text)
