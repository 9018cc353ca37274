"""The answer to one frame: forecasts, what was found on the way, and what has none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forecast.errors import DataError
from forecast.forecast import Forecast
from forecast.frames.answer import forecast_frame
from forecast.frames.column_type import Kind
from forecast.frames.columns import Columns
from forecast.frames.panel import Panel
from forecast.frames.report import Report


@dataclass(frozen=True, eq=False)
class Prediction:
    """The answer to one frame."""

    panel: Panel
    """The series forecast, in the order of their ids."""

    forecast: Forecast
    """One row a series of `panel`."""

    report: Report
    """What the contract found in the frame and did about it."""

    left_out: Mapping[str | int, DataError]
    """Series of the frame that have no forecast, by id, with why."""

    naive: Mapping[str | int, str]
    """Series of `panel` whose forecast repeats their newest value, by id, with why."""

    notes: tuple[str, ...]
    """What else the caller should know before trusting the forecast."""

    columns: Columns
    """The names under which the frame's columns were found."""

    like: Kind
    """The library of the frame."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the caller should hear of, for people: findings, series left out or repeated, notes."""
        found = tuple(str(finding) for finding in self.report.findings)
        return found + tuple(map(str, self.left_out.values())) + tuple(self.naive.values()) + self.notes

    def frame(self) -> Any:
        """Dress the forecast: id, time, `mean`, and a column a quantile level, in the caller's library and types."""
        return forecast_frame(self.panel, self.forecast, like=self.like, columns=self.columns)
