"""The frequency of a frame: one kind of step, spelt canonically, with its default season."""

from dataclasses import dataclass
from typing import Self

from forecast.frames.calendar.base import Calendar
from forecast.frames.spelling import parse_frequency


@dataclass(frozen=True)
class Frequency:
    """How far apart the steps of every series are; two spellings of one frequency are equal."""

    calendar: Calendar

    @classmethod
    def parse(cls, text: str | int) -> Self:
        """Read a pandas offset (`h`, `W-MON`, `ME`), a polars duration (`1h`, `1mo`) or the stride of integer time.

        polars' calendar durations leave the weekday, the day of the month or the month of the quarter to the data.
        Brackets say what is worked: `B[mon-sat, DE]`, `bh[08:00-12:00, 13:00-18:00]`, `30min[mon-fri, 09:30-16:00]`;
        `6h[local]` counts on the local clock, at the same hours also after it is changed.

        Raises:
            FrequencyError: the text spells no frequency that is known here.
        """
        return cls(parse_frequency(str(text)))

    @property
    def text(self) -> str:
        """The canonical spelling: pandas' where there is one, else polars'; it parses back to an equal frequency."""
        return self.calendar.text

    @property
    def season_length(self) -> int:
        """Steps in the default season (hourly 24, daily 7, weekly 52, monthly 12); 1 where there is none."""
        return self.calendar.season_length

    def __str__(self) -> str:
        return self.text
