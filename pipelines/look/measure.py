"""A look at prepared data: everything that its page tells, measured once."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from forecast.frames.contract import Prepared
from pipelines.look.choice import Pick, pick_series
from pipelines.look.covariates import CovariateFacts, covariate_facts
from pipelines.look.coverage import Coverage, coverage
from pipelines.look.facts import SeriesFacts, series_facts
from pipelines.look.histogram import Histogram, linear_histogram, log_histogram
from pipelines.look.season import Seasonality, seasonality
from pipelines.look.timeline import Timeline


@dataclass(frozen=True, eq=False)
class Look:
    """Prepared data, and what is measured in them where the page asks for it."""

    name: str
    origin: str
    """Where the data come from, for people."""

    prepared: Prepared

    @cached_property
    def facts(self) -> SeriesFacts:
        """What each series is like."""
        return series_facts(self.prepared.panel)

    @cached_property
    def picks(self) -> tuple[Pick, ...]:
        """The series that are drawn."""
        return pick_series(self.facts)

    @cached_property
    def coverage(self) -> Coverage:
        """Which series have values when."""
        return coverage(self.prepared.panel, self.facts, Timeline.of_panel(self.prepared.panel))

    @cached_property
    def seasonality(self) -> Seasonality | None:
        """How the series resemble themselves some steps later; None where none moves long enough."""
        return seasonality(self.prepared.panel)

    @cached_property
    def scales(self) -> dict[str, Histogram]:
        """How the levels and the spreads of the series differ; of a single series, how its values do."""
        panel = self.prepared.panel
        if len(panel) == 1:
            found = {"values": linear_histogram(panel.values[panel.observed])}
        else:
            found = {"means": log_histogram(self.facts.mean), "standard deviations": log_histogram(self.facts.std)}
        return {what: histogram for what, histogram in found.items() if histogram is not None}

    @cached_property
    def covariates(self) -> tuple[CovariateFacts, ...]:
        """What the covariates are like."""
        return covariate_facts(self.prepared.panel)

    @property
    def num_missing(self) -> int:
        """Steps of all series that have no value."""
        return int(np.sum(self.facts.num_missing))
