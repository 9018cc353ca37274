"""An artifact made callable: a frame of history in, a frame of forecasts out, with no trainer between them."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Int64

from forecast.artifact import Artifact, load_artifact
from forecast.batch import Batch, cut_newest
from forecast.card import Card
from forecast.errors import DataError, MissingValues
from forecast.forecast import Forecast
from forecast.frames.ahead import split_ahead
from forecast.frames.answer import forecast_frame, future_frame
from forecast.frames.column_type import Kind
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract, prepare
from forecast.frames.covariate_columns import CovariateColumns
from forecast.frames.frequency import Frequency
from forecast.frames.panel import Panel
from forecast.frames.report import Report
from forecast.request import Levels, Request

STEPS_A_BATCH = 131_072  # past and horizon: 64 windows of 2,048 steps, about 100 MB of activations at d_model 64
NAMED = 3  # series that a message names; a frame can hold thousands


class ForecastWarning(UserWarning):
    """Something to know before trusting a forecast."""


class SeriesLeftOut(ForecastWarning):
    """Some series of a frame cannot be forecast; the others are."""


class NaiveForecast(ForecastWarning):
    """The forecast of some series repeats their newest value, because there is no more to go by."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """The answer to one frame."""

    panel: Panel
    """The series forecast, in the order of their first row."""

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


@dataclass(frozen=True, eq=False)
class Predictor:
    """Forecasts with one artifact. Holds no state between calls: threads may share it."""

    artifact: Artifact

    @classmethod
    def load(cls, folder: str | Path, *, device: str | torch.device = "cpu") -> Self:
        """Read an artifact onto a device (`load_artifact`, with its errors)."""
        return cls(load_artifact(folder, device=device))

    @property
    def card(self) -> Card:
        """What is known of the model."""
        return self.artifact.card

    def predict(
        self,
        frame: Any,
        *,
        future: Any = None,
        horizon: int | None = None,
        level: Levels | None = None,
        quantile_levels: Levels | None = None,
        frequency: str | int | None = None,
        context_length: int | None = None,
    ) -> Any:
        """Forecast every series of a long frame from its own end; the answer is of the frame's kind.

        `future` holds the covariates that are known ahead, by id and time (`future_template` gives its rows); it may
        hold those of the history too, where `frame` does not.

        What is not given is as it was trained. `level=80` asks for the interval between the levels 0.1 and 0.9. Series
        that cannot be forecast are left out with a `SeriesLeftOut` warning; those with one value to go by, or none of
        late, are forecast to stay where they are, with a `NaiveForecast` warning.

        Raises:
            ConfigError: a request that makes no sense; `field` says which part.
            DataError: the frame breaks the contract, or none of its series can be forecast.
            QuantilesUnavailable: levels were asked of a point model.
            ContextTooLong: the model's positions do not reach as far as the context asked for.
        """
        request = Request.complete(
            self.card, horizon=horizon, level=level, quantile_levels=quantile_levels, context_length=context_length
        )
        prediction = self.answer(frame, future=future, request=request, frequency=frequency)
        for warning in _warnings(prediction):
            warnings.warn(warning, stacklevel=2)
        return prediction.frame()

    def predict_whole(self, frame: Any, *, horizon: int | None = None, quantile_levels: Levels | None = None) -> Any:
        """Forecast as `predict` does from one frame that also holds what is known ahead, in rows without a target.

        Only for a model that is told something ahead: for others such rows are steps without a value.
        """
        future = None
        if self.card.covariates.future:
            frame, future = split_ahead(frame, self.card.contract.columns)
        return self.predict(frame, future=future, horizon=horizon, quantile_levels=quantile_levels)

    def answer(
        self, frame: Any, *, request: Request, future: Any = None, frequency: str | int | None = None
    ) -> Prediction:
        """Forecast every series of a long frame that can be, as `predict` does; the value also says which cannot."""
        prepared = prepare(
            frame,
            self._contract(frequency),
            covariates=future,
            horizon=request.horizon,
            schema=self.card.covariates,
            on_bad_series="leave_out",
        )
        silent = silent_series(prepared.panel)
        panel = _without(prepared.panel, silent)
        return Prediction(
            panel=panel,
            forecast=self.forecast(panel, request=request),
            report=prepared.report,
            left_out={**prepared.left_out, **silent},
            naive=naive_series(panel, context_length=request.context_length),
            notes=self._notes(panel),
            columns=prepared.columns,
            like=prepared.like,
        )

    def future_template(self, frame: Any, *, horizon: int | None = None, frequency: str | int | None = None) -> Any:
        """Give the rows that `predict` needs as `future`: id and time of each step ahead, covariates to be filled in.

        Raises:
            DataError: the frame breaks the contract.
        """
        contract = replace(self._contract(frequency), covariates=CovariateColumns(), calendar=())
        prepared = prepare(frame, contract, on_bad_series="leave_out")
        return future_frame(
            prepared.panel,
            horizon=self.card.horizon if horizon is None else horizon,
            covariates=self.card.covariates.future,
            like=prepared.like,
            columns=prepared.columns,
        )

    def _contract(self, frequency: str | int | None) -> DataContract:
        return replace(
            self.card.contract,
            columns=replace(self.card.contract.columns, weight=None),  # weights are a matter of training
            frequency=self.card.frequency if frequency is None else frequency,
        )

    def predict_panel(
        self,
        panel: Panel,
        *,
        horizon: int | None = None,
        quantile_levels: Levels | None = None,
        context_length: int | None = None,
    ) -> Forecast:
        """Forecast every series of a panel from its end; what is not given is as it was trained.

        Raises:
            ConfigError: a request that makes no sense.
            MissingValues: a series has not one observed step.
        """
        request = Request.complete(
            self.card, horizon=horizon, quantile_levels=quantile_levels, context_length=context_length
        )
        for reason in silent_series(panel).values():
            raise reason
        return self.forecast(panel, request=request)

    def forecast(self, panel: Panel, *, request: Request) -> Forecast:
        """Forecast every series of a panel in batches whose size changes no forecast; each has an observed step."""
        parts = [self._windows(panel, numbers, request=request) for numbers in _batches(len(panel), request)]
        return Forecast(
            mean=np.concatenate([part.mean for part in parts]),
            quantiles=np.concatenate([part.quantiles for part in parts]),
            quantile_levels=request.quantile_levels,
        )

    def _windows(self, panel: Panel, numbers: Int64[np.ndarray, " batch"], *, request: Request) -> Forecast:
        model = self.artifact.model
        windows = cut_newest(
            panel, series=numbers, context_length=request.context_length, known_horizon=request.horizon
        )
        windows = _seeing(windows, panel, numbers).to(next(model.parameters()).device)
        return model.forecast(
            windows.past,
            windows.past_observed,
            horizon=request.horizon,
            quantile_levels=request.quantile_levels,
            covariates=windows.covariates,
        )

    def _notes(self, panel: Panel) -> tuple[str, ...]:
        trained, given = self.card.frequency, panel.axis.frequency.text
        if Frequency.parse(trained) == panel.axis.frequency:
            return ()
        return (f"the model was trained on steps of {trained!r} and is given {given!r}: check it by a backtest",)


def blind_series(panel: Panel, *, context_length: int) -> dict[str | int, DataError]:
    """Give the series none of whose newest steps is observed, so that there is nothing to forecast from."""
    seen = np.concatenate([[0], np.cumsum(panel.observed)])
    ends = panel.offsets[1:]
    starts = np.maximum(panel.offsets[:-1], ends - context_length)
    return {
        panel.ids[number]: MissingValues(
            f"series {panel.ids[number]!r}: none of its newest {ends[number] - starts[number]:,} steps has a value, so "
            f"there is nothing to forecast from; send values, or leave the series out",
            series=str(panel.ids[number]),
        )
        for number in np.flatnonzero(seen[ends] == seen[starts]).tolist()
    }


def silent_series(panel: Panel) -> dict[str | int, DataError]:
    """Give the series without one observed step, with those that belong to the same entity."""
    silent = blind_series(panel, context_length=int(panel.lengths.max(initial=1)))
    count = 1 if panel.channels is None else len(panel.channels)
    for number in [number for number, name in enumerate(panel.ids) if count > 1 and name in silent]:
        for sibling in range(number - number % count, number - number % count + count):
            silent.setdefault(panel.ids[sibling], silent[panel.ids[number]])
    return silent


def naive_series(panel: Panel, *, context_length: int) -> dict[str | int, str]:
    """Give the series of whose newest steps one is observed, or none but an earlier one, with what is forecast."""
    seen = np.concatenate([[0], np.cumsum(panel.observed)])
    lengths = np.minimum(panel.lengths, context_length)
    counts = seen[panel.offsets[1:]] - seen[panel.offsets[1:] - lengths]
    found: dict[str | int, str] = {}
    for number in np.flatnonzero(counts < 2).tolist():
        how_many, which = ("one", "it") if counts[number] else ("none", "the newest before them")
        found[panel.ids[number]] = (
            f"series {panel.ids[number]!r}: {how_many} of its newest {lengths[number]:,} steps has a value; "
            f"its forecast repeats {which}"
        )
    return found


def _seeing(windows: Batch, panel: Panel, numbers: Int64[np.ndarray, " batch"]) -> Batch:
    """Show a window without a value the newest one from before it, as if it had come last: its forecast repeats it."""
    blind = ~windows.past_observed.any(dim=1)
    if not blind.any():
        return windows
    past, observed = windows.past.clone(), windows.past_observed.clone()
    for row in blind.nonzero().flatten().tolist():
        known = panel.values[panel.series(numbers[row])][panel.observed[panel.series(numbers[row])]]
        past[row, -1], observed[row, -1] = known[-1], True
    return replace(windows, past=past, past_observed=observed)


def _without(panel: Panel, silent: Mapping[str | int, DataError]) -> Panel:
    if not silent:
        return panel
    if len(silent) == len(panel):
        raise next(iter(silent.values()))
    return panel.select([number for number, name in enumerate(panel.ids) if name not in silent])


def _batches(num_series: int, request: Request) -> Iterator[Int64[np.ndarray, " batch"]]:
    size = max(1, STEPS_A_BATCH // (request.context_length + request.horizon))
    for first in range(0, num_series, size):
        yield np.arange(first, min(first + size, num_series), dtype=np.int64)


def _warnings(prediction: Prediction) -> Iterator[ForecastWarning]:
    for note in prediction.notes:
        yield ForecastWarning(note)
    reasons = [str(reason) for reason in prediction.left_out.values()]
    if reasons:
        more = f"; and {len(reasons) - NAMED} more" if len(reasons) > NAMED else ""
        yield SeriesLeftOut(f"{len(reasons)} series have no forecast: {'; '.join(reasons[:NAMED])}{more}")
