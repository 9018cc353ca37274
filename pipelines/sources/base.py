"""What every source gives: a long frame, whole or in pieces, and a description of where it comes from."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

CHUNK_ROWS = 100_000
"""Rows of a piece: a few megabytes, enough to keep the work for each piece small beside the work for its rows."""


@dataclass(frozen=True)
class Description:
    """Where a source's rows come from, for logs and for the tracking store."""

    name: str
    """Short name of the data set."""

    origin: str
    """The place a person can go to: a URL, paths, or a formula; never with a password or a signature in it."""

    holds: str
    """What the rows are, in one sentence."""

    terms: str | None = None
    """The licence or terms of use, where they are known."""

    def __str__(self) -> str:
        """Give the description as one line."""
        terms = f"; {self.terms}" if self.terms else ""
        return f"{self.name}: {self.holds} ({self.origin}{terms})"


class SourceContract(ABC):
    """A place that rows are read from. Making one reads nothing; every `read` reads anew."""

    @abstractmethod
    def read(self) -> pl.DataFrame:
        """Give the rows as a long frame: one row a series and time step.

        The columns are `unique_id`, `ds` and `y`, except where the rows are the user's own: those keep their names.
        Nothing is mended here: duplicates, gaps and missing values are the data contract's to judge.

        Raises:
            SourceError: the rows cannot be read; says where they were looked for and what to do.
        """

    def chunks(self) -> Iterator[pl.DataFrame]:
        """Give the rows of `read` in the same order, in one or more pieces of the same columns and types.

        A source that can be larger than memory gives small pieces and holds few of them at a time.
        """
        yield self.read()

    @abstractmethod
    def describe(self) -> Description:
        """Say where the rows come from, without reading them."""
