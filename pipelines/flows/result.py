"""What a backtest found: the scores of several forecasters over the same windows, as values, as a table, as JSON."""

import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from forecast.errors import ConfigError
from forecast.metrics import Coverage, MetricContract, Scores

TEXT_WIDTH = 120  # columns of a result printed as text: a log line's, whatever terminal is or is not there
TABLE_INTERVAL = 0.8  # the table has room for one central interval: the one nearest to the field's usual 80 %


@dataclass(frozen=True, eq=False)
class BacktestResult:
    """Scores of forecasters over the same windows, by name, in the order of the rows."""

    ids: tuple[str | int, ...]
    """Ids of the series, in the order of `Scores.by_series`."""

    horizon: int

    scores: Mapping[str, Scores]
    """At least one forecaster; all are scored by the same metrics."""

    def __getitem__(self, name: str) -> Scores:
        """Give the scores of one forecaster.

        Raises:
            ConfigError: no forecaster of this name was scored.
        """
        if name not in self.scores:
            raise ConfigError(f"no forecaster {name!r} was scored; there are {', '.join(self.scores)}")
        return self.scores[name]

    def __iter__(self) -> Iterator[str]:
        """Give the names of the forecasters."""
        return iter(self.scores)

    @property
    def num_windows(self) -> int:
        """Number of windows over which each forecaster was scored."""
        return self._first.num_windows

    def table(self) -> Table:
        """Give one row a forecaster and one column a metric; the best figure of a column is bold."""
        metrics = _shown(self._first)
        title = f"{self.num_windows:,} windows of {self.horizon} steps, {len(self.ids)} series"
        table = Table(
            title=title, caption=self._exclusions(), box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1)
        )
        table.add_column("forecaster", no_wrap=True)
        for metric in metrics:
            table.add_column(metric.label, justify="right")
        columns = [self._column(metric) for metric in metrics]
        for name, *figures in zip(self, *columns, strict=True):
            table.add_row(name, *figures)
        return table

    def __rich__(self) -> Table:
        """Show the table when rich prints the result."""
        return self.table()

    def __str__(self) -> str:
        """Give the table as plain text."""
        console = Console(file=io.StringIO(), width=TEXT_WIDTH, color_system=None)
        with console.capture() as captured:
            console.print(self.table())
        return captured.get()

    def to_plain(self) -> dict[str, Any]:
        """Give everything as mappings, lists and numbers for JSON; an undefined figure is None."""
        return {
            "num_windows": self.num_windows,
            "horizon": self.horizon,
            "forecasters": {name: _plain_scores(scores, self.ids) for name, scores in self.scores.items()},
        }

    @property
    def _first(self) -> Scores:
        return next(iter(self.scores.values()))

    def _column(self, metric: MetricContract) -> list[str]:
        values = [scores.overall()[metric.name] for scores in self.scores.values()]
        best = min((metric.shortfall(value) for value in values if not math.isnan(value)), default=math.nan)
        return [f"[bold]{_figure(value)}[/]" if metric.shortfall(value) == best else _figure(value) for value in values]

    def _exclusions(self) -> str | None:
        """Say which metrics leave out series, for the line below the table."""
        counts = [(metric.label, self._first.num_excluded(name)) for name, metric in self._first.metrics.items()]
        told = [f"{label} leaves out {count} series without a scale" for label, count in counts if count]
        return "; ".join(told) or None


def _shown(scores: Scores) -> list[MetricContract]:
    """The metrics that a table has room for: all, with one interval."""
    intervals = [metric for metric in scores.metrics.values() if isinstance(metric, Coverage)]
    nearest = min(intervals, key=lambda interval: abs(float(interval.nominal) - TABLE_INTERVAL), default=None)
    return [metric for metric in scores.metrics.values() if metric not in intervals or metric == nearest]


def _figure(value: float) -> str:
    if math.isnan(value):
        return "-"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) < 0.001 and value != 0:
        return f"{value:.1e}"
    return f"{value:.3f}" if abs(value) >= 0.1 or value == 0 else f"{value:.4f}"


def _plain_scores(scores: Scores, ids: tuple[str | int, ...]) -> dict[str, Any]:
    by_series, by_step = scores.by_series(), scores.by_step()
    return {
        "overall": {name: _plain(value) for name, value in scores.overall().items()},
        "num_excluded": {name: scores.num_excluded(name) for name in scores.metrics},
        "by_series": [
            {"id": series_id, "metrics": {name: _plain(values[number]) for name, values in by_series.items()}}
            for number, series_id in enumerate(ids)
        ],
        "by_step": {name: [_plain(value) for value in values] for name, values in by_step.items()},
    }


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
