"""The card of a trained model: what it is, what data it was made for, how it did; written beside its weights."""

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

import numpy as np
import polars as pl
from jaxtyping import Int64
from pydantic import Field

from forecast.config import config
from forecast.frames.contract import DataContract, Prepared
from forecast.frames.covariates import CovariateSchema
from forecast.frames.digest import panel_digest
from forecast.frames.frequency import Frequency
from forecast.frames.time import TimeAxis
from forecast.model.transformer import ForecastModel, ModelConfig
from forecast.version import git_sha, library_version

FORMAT_VERSION = 1
"""Grows when an artifact can no longer be read by the library before; a new key with a default needs no other."""


@config
class TimeFormat:
    """How the training frame wrote time."""

    kind: Literal["integer", "date", "datetime", "text"]

    unit: Literal["ms", "us", "ns"] | None = None
    """Resolution of datetimes."""

    zone: str | None = None
    """Zone of zone-aware datetimes."""


@config
class Card:
    """All that is known of a trained model besides its weights."""

    format_version: int = FORMAT_VERSION

    name: str = Field(min_length=1)
    """Under which it is registered."""

    library_version: str
    """Version that trained it."""

    git_sha: str | None
    """Commit of the checkout that trained it; None where the library was installed."""

    model: ModelConfig

    contract: DataContract
    """How frames are read, with the names that the columns of the training frame had."""

    frequency: str
    """Canonical spelling, as `Frequency.text` gives it."""

    time: TimeFormat

    trained_until: str
    """Newest step seen in training: ISO 8601 with its offset from UTC; naive stamps have none, integers are digits."""

    num_series: int = Field(ge=1)
    """Series trained on."""

    data_digest: str
    """`panel_digest` of the data trained on."""

    covariates: CovariateSchema = CovariateSchema()
    """What the model is told beside the target, with the vocabularies of its categories."""

    channels: tuple[str, ...] = ()
    """The targets of each entity, where there are several."""

    backtest: dict[str, float] = Field(default_factory=dict)
    """Overall figures on the test part, by metric; empty where none was run."""

    @property
    def context_length(self) -> int:
        """Steps of past seen in training."""
        return self.model.context_length

    @property
    def horizon(self) -> int:
        """Steps forecast in training, and where none is asked for."""
        return self.model.horizon

    @property
    def quantile_levels(self) -> tuple[float, ...]:
        """Levels forecast where none are asked for."""
        return self.model.head.default_quantile_levels

    @property
    def season_length(self) -> int:
        """Steps in the default season of the frequency."""
        return Frequency.parse(self.frequency).season_length


def describe(
    model: ForecastModel,
    prepared: Prepared,
    *,
    name: str,
    contract: DataContract,
    ends: Int64[np.ndarray, " series"],
    backtest: Mapping[str, float],
) -> Card:
    """Write the card of a model trained on the steps before `ends`, counted from each series' start.

    `contract` is the one that the data were prepared by; figures of the backtest that are undefined are left out.
    """
    panel = prepared.panel
    return Card(
        name=name,
        library_version=library_version(),
        git_sha=git_sha(),
        model=model.config,
        contract=replace(contract, columns=prepared.columns),
        frequency=panel.axis.frequency.text,
        time=_time_format(panel.axis),
        trained_until=_newest(panel.axis, ends),
        num_series=len(panel),
        data_digest=panel_digest(panel),
        covariates=model.schema,
        channels=() if panel.channels is None else panel.channels.names,
        backtest={metric: float(value) for metric, value in backtest.items() if math.isfinite(value)},
    )


def _time_format(axis: TimeAxis) -> TimeFormat:
    dtype = axis.stamp_type.column.dtype
    if isinstance(dtype, pl.Datetime):
        return TimeFormat(kind="datetime", unit=dtype.time_unit, zone=dtype.time_zone)
    if dtype == pl.Date:
        return TimeFormat(kind="date")
    return TimeFormat(kind="integer" if dtype.is_integer() else "text")


def _newest(axis: TimeAxis, ends: Int64[np.ndarray, " series"]) -> str:
    trained = np.flatnonzero(ends > 0)
    newest = axis.moments_at(trained, steps=ends[trained] - 1).max()
    if not isinstance(newest, datetime):
        return str(newest)
    return (newest if newest.tzinfo is None else newest.astimezone(UTC)).isoformat()
