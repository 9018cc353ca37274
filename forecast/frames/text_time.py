"""Text to datetimes and back in the same spelling: ISO 8601, or a pattern that the caller gives."""

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import product

import polars as pl

ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:(?P<middle>[T ])\d{2}:\d{2}(?P<seconds>:\d{2}(?:[.]\d{1,6})?)?(?P<zone>Z|[+-]\d{2}:\d{2})?)?"
)

OFFSETS = ("%z", "%:z")
"""The letters for an offset from UTC, without a colon and with one."""

DATES = (
    *("%d/%m/%Y", "%m/%d/%Y", "%d/%m/%y", "%m/%d/%y", "%Y/%m/%d", "%d.%m.%Y", "%d.%m.%y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%Y%m%d", "%Y-%m", "%m/%Y", "%b %Y", "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y", "%Y"),
)
TIMES = ("", " %H:%M", " %H:%M:%S", "T%H:%M:%S", " %I:%M %p", " %I:%M:%S %p", "T%H:%M:%SZ")
"""What stamps often look like, to suggest a pattern for those that are not ISO 8601."""


EXAMPLES = (datetime(2033, 11, 1), datetime(2033, 1, 1))
"""Stamps for trying a pattern; it may leave out the day, or the month too."""

WITHOUT_ZEROS = ("dm", "HI", "dmHI")
"""Letters that may stand without leading zeros: the date's, the clock's or both."""

BARE_FRACTION = re.compile("(?<![.])%f")


@dataclass(frozen=True)
class TextFormat:
    """One spelling of stamps as text."""

    pattern: str
    """The spelling in the letters of strftime; of ISO 8601 without the offset."""

    offset: str
    """`Z` or `+hh:mm` where ISO 8601 text carries an offset from UTC, else empty."""

    @classmethod
    def of(cls, example: str) -> "TextFormat | None":
        """Read the spelling off an example; None where it is not ISO 8601."""
        found = ISO.fullmatch(example)
        if found is None:
            return None
        pattern = "%Y-%m-%d"
        if found["middle"]:
            pattern += f"{found['middle']}%H:%M"
        if found["seconds"]:
            pattern += ":%S%.f"
        return cls(pattern, {None: "", "Z": "Z"}.get(found["zone"], "+hh:mm"))

    @classmethod
    def given(cls, pattern: str, *, texts: pl.Series) -> "TextFormat":
        """Take the caller's pattern, with or without leading zeros, as the texts have them."""
        bare = [re.sub(f"%([{letters}])", "%-\\1", pattern) for letters in WITHOUT_ZEROS]
        spellings = [cls(text, "") for text in (pattern, *bare)]
        read = spellings[0].read(texts)
        alike: list[int] = []
        for spelling in spellings:
            alike.append(int((spelling.write(read) == texts).sum() or 0))
            if alike[-1] == len(read) - read.null_count():
                break
        return spellings[alike.index(max(alike))]

    @property
    def has_offset(self) -> bool:
        """Whether the text says how far from UTC it is."""
        return bool(self.offset) or any(letters in self.pattern for letters in OFFSETS)

    def read(self, texts: pl.Series) -> pl.Series:
        """Give the datetimes, in UTC where the text carries offsets; null where a text is spelt differently."""
        if not self.offset:
            pattern = self.pattern.replace(".%f", "%.f")  # Python's spelling of a fraction; here its digits may vary
            return texts.str.to_datetime(pattern, strict=False, time_unit="us")
        plain = texts.str.replace("Z$", "+00:00")
        return plain.str.to_datetime(f"{self.pattern}%:z", strict=False, time_unit="us")

    def write(self, stamps: pl.Series) -> pl.Series:
        """Give the stamps in this spelling."""
        if self.offset == "Z":
            return stamps.dt.convert_time_zone("UTC").dt.to_string(f"{self.pattern}Z")
        pattern = self.pattern.replace(".%f", "%.6f")
        return stamps.dt.to_string(f"{pattern}%:z" if self.offset else pattern)


def known_pattern(pattern: str) -> str:
    """Accept a pattern that reads what it writes.

    Raises:
        ValueError: it does not; says what a pattern must hold.
    """
    if not ("%Z" in pattern or BARE_FRACTION.search(pattern)) and any(_comes_back(pattern, day) for day in EXAMPLES):
        return pattern
    raise ValueError(
        f"{pattern!r} does not say how stamps are written; write the year, the month and what follows in the "
        f"letters of strftime, for example '%d/%m/%Y %H:%M' (hours need minutes, zones need an offset '%z')"
    )


def _comes_back(pattern: str, example: datetime) -> bool:
    spelling = TextFormat(pattern, "")
    stamps = pl.Series([example]).dt.replace_time_zone("UTC" if spelling.has_offset else None)
    try:
        return spelling.read(spelling.write(stamps)).equals(stamps)
    except pl.exceptions.PolarsError:
        return False


def suggested_patterns(texts: pl.Series) -> list[str]:
    """Give the usual patterns under which every text can be read."""
    known, found = texts.drop_nulls(), []
    for pattern in ("".join(parts) for parts in product(DATES, TIMES)):
        for some in (known.head(1), known.unique()):  # most patterns fall at the first text
            spelling = TextFormat.given(pattern, texts=some)
            if not spelling.write(spelling.read(some)).equals(some):
                break
        else:
            found.append(pattern)
    return found
