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
        padded, bare = cls(pattern, ""), cls(re.sub("%([dmHI])", "%-\\1", pattern), "")
        if bare == padded:
            return padded
        read = padded.read(texts)
        alike = [int((spelling.write(read) == texts).sum() or 0) for spelling in (padded, bare)]
        return bare if alike[1] > alike[0] else padded

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
    spelling = TextFormat(pattern, "")
    example = pl.Series([datetime(2033, 11, 1), datetime(2034, 12, 1)])  # a pattern may leave out all but year and month
    example = example.dt.replace_time_zone("UTC") if spelling.has_offset else example
    example = example if re.search("%-?m|%[bBhFDjsxc]|%[GVUW]", pattern) else example.dt.truncate("1y")
    try:
        same = spelling.read(spelling.write(example)).equals(example)
    except pl.exceptions.PolarsError:
        same = False
    if not same or "%Z" in pattern or re.search("(?<!%)(?<![.])%f", pattern):
        raise ValueError(
            f"{pattern!r} does not say how stamps are written; write the year, the month and what follows in the "
            f"letters of strftime, for example '%d/%m/%Y %H:%M' (hours need minutes, zones need an offset '%z')"
        )
    return pattern


def suggested_patterns(texts: pl.Series) -> list[str]:
    """Give the usual patterns under which every text can be read."""
    first, every = texts.drop_nulls().head(1), texts.drop_nulls().unique()
    patterns = ("".join(parts) for parts in product(DATES, TIMES))
    fitting = [pattern for pattern in patterns if not TextFormat(pattern, "").read(first).null_count()]
    return [pattern for pattern in fitting if not TextFormat(pattern, "").read(every).null_count()]
