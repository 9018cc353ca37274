"""ISO 8601 text to datetimes and back in the same spelling; other text is refused by its first offender."""

import re
from dataclasses import dataclass

import polars as pl

ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:(?P<middle>[T ])\d{2}:\d{2}(?P<seconds>:\d{2}(?:[.]\d{1,6})?)?(?P<zone>Z|[+-]\d{2}:\d{2})?)?"
)


@dataclass(frozen=True)
class TextFormat:
    """One spelling of stamps as text."""

    pattern: str
    """The spelling without the offset, in the letters of strftime."""

    offset: str
    """`Z` or `+hh:mm` where the text carries an offset from UTC, else empty."""

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

    def read(self, texts: pl.Series) -> pl.Series:
        """Give the datetimes, in UTC where the text carries offsets; null where a text is spelt differently."""
        if not self.offset:
            return texts.str.to_datetime(self.pattern, strict=False, time_unit="us")
        plain = texts.str.replace("Z$", "+00:00")
        return plain.str.to_datetime(f"{self.pattern}%:z", strict=False, time_unit="us")

    def write(self, stamps: pl.Series) -> pl.Series:
        """Give the stamps in this spelling."""
        if self.offset == "Z":
            return stamps.dt.convert_time_zone("UTC").dt.to_string(f"{self.pattern}Z")
        return stamps.dt.to_string(f"{self.pattern}%:z" if self.offset else self.pattern)
