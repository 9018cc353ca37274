"""An artifact made callable: a frame of history in, a frame of forecasts out, with no trainer between them."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from forecast.artifact import Artifact, load_artifact
from forecast.batch import cut_newest
from forecast.card import Card
from forecast.errors import DataError
from forecast.forecast import Forecast
from forecast.frames.ahead import split_ahead
from forecast.frames.answer import future_frame
from forecast.frames.contract import DataContract, prepare
from forecast.frames.covariate_columns import CovariateColumns
from forecast.frames.frequency import Frequency
from forecast.frames.panel import Panel
from forecast.frames.report import FindingKind
from forecast.last_seen import naive_series, show_newest, silent_series
from forecast.length_batches import LengthBatch, batches_by_length
from forecast.prediction import Prediction
from forecast.request import Levels, Request
from forecast.transform import outside_series

STEPS_A_BATCH = 131_072  # past and horizon: 64 windows of 2,048 steps, about 100 MB of activations at d_model 64
NAMED = 3  # series that a message names; a frame can hold thousands

TOLD: tuple[FindingKind, ...] = ("unknown_category", "unused_covariates")
"""Findings that a caller hears of at once: part of what was sent is not used."""


class ForecastWarning(UserWarning):
    """Something to know before trusting a forecast."""


class SeriesLeftOut(ForecastWarning):
    """Some series of a frame cannot be forecast; the others are."""


class NaiveForecast(ForecastWarning):
    """The forecast of some series repeats their newest value, because there is no more to go by."""


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
        num_samples: int | None = None,
        seed: int = 0,
    ) -> Any:
        """Forecast every series of a long frame from its own end; the answer is of the frame's kind.

        `future` holds the covariates that are known ahead, by id and time (`future_template` gives its rows); it may
        hold those of the history too, where `frame` does not.

        What is not given is as it was trained. `level=80` asks for the interval between the levels 0.1 and 0.9. Series
        that cannot be forecast are left out with a `SeriesLeftOut` warning; those with one value to go by, or none of
        late, are forecast to stay where they are, with a `NaiveForecast` warning.

        With `num_samples` mean and quantiles are those of so many sample paths: beyond the trained horizon intervals
        then hold the uncertainty of what was forecast before. `seed` and a series' id alone say what is drawn for it.

        Raises:
            ConfigError: a request that makes no sense; `field` says which part.
            DataError: the frame breaks the contract, or none of its series can be forecast.
            QuantilesUnavailable: levels or sample paths were asked of a point model.
            ContextTooLong: the model's positions do not reach as far as the context asked for.
        """
        request = Request.complete(
            self.card,
            horizon=horizon,
            level=level,
            quantile_levels=quantile_levels,
            context_length=context_length,
            num_samples=num_samples,
            seed=seed,
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
            frame, future = split_ahead(frame, self._contract(None))
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
        out = self.impossible(prepared.panel, context_length=request.context_length)
        panel = _without(prepared.panel, out)
        return Prediction(
            panel=panel,
            forecast=self.forecast(panel, request=request),
            report=prepared.report,
            left_out={**prepared.left_out, **out},
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
            DataError: a series holds values that the model's transform cannot take.
        """
        request = Request.complete(
            self.card, horizon=horizon, quantile_levels=quantile_levels, context_length=context_length
        )
        for reason in self.impossible(panel, context_length=request.context_length).values():
            raise reason
        return self.forecast(panel, request=request)

    def forecast(self, panel: Panel, *, request: Request) -> Forecast:
        """Forecast every series of a panel in batches whose size changes no forecast; each has an observed step."""
        batches = list(
            batches_by_length(
                panel.lengths,
                context_length=request.context_length,
                horizon=request.horizon,
                block=self.card.horizon,
                steps_a_batch=STEPS_A_BATCH,
                num_channels=panel.num_channels,
            )
        )
        parts = [self._windows(panel, batch, request=request) for batch in batches]
        order = np.argsort(np.concatenate([batch.numbers for batch in batches]))
        return Forecast(
            mean=np.concatenate([part.mean for part in parts])[order],
            quantiles=np.concatenate([part.quantiles for part in parts])[order],
            quantile_levels=request.quantile_levels,
        )

    def impossible(self, panel: Panel, *, context_length: int) -> dict[str | int, DataError]:
        """Give the series that cannot be forecast, each with why; an entity goes as a whole."""
        transform = self.artifact.model.transform
        found = {**silent_series(panel), **outside_series(panel, transform, context_length=context_length)}
        count = panel.num_channels
        entities = [panel.ids[first : first + count] for first in range(0, len(panel), count)] if found else []
        out: dict[str | int, DataError] = {}
        for channels in entities:
            if reasons := [found[name] for name in channels if name in found]:
                out |= {name: found.get(name, reasons[0]) for name in channels}
        return out

    def _windows(self, panel: Panel, batch: LengthBatch, *, request: Request) -> Forecast:
        model = self.artifact.model
        windows = cut_newest(
            panel, series=batch.numbers, context_length=batch.context_length, known_horizon=request.horizon
        )
        windows = show_newest(windows, panel, batch.numbers).to(next(model.parameters()).device)
        return model.forecast(
            windows.past,
            windows.past_observed,
            horizon=request.horizon,
            quantile_levels=request.quantile_levels,
            covariates=windows.covariates,
            num_samples=request.num_samples,
            seed=request.seed,
            row_ids=[_row_id(panel.ids[number]) for number in batch.numbers],
        )

    def _notes(self, panel: Panel) -> tuple[str, ...]:
        trained, given = self.card.frequency, panel.axis.frequency.text
        if Frequency.parse(trained) == panel.axis.frequency:
            return ()
        return (f"the model was trained on steps of {trained!r} and is given {given!r}: check it by a backtest",)


def _row_id(series: str | int) -> int:
    """Give the number that stands for a series when paths are drawn, the same in every frame and process."""
    return int.from_bytes(blake2b(str(series).encode(), digest_size=8).digest())


def _without(panel: Panel, out: Mapping[str | int, DataError]) -> Panel:
    if not out:
        return panel
    if len(out) == len(panel):
        raise next(iter(out.values()))
    return panel.select([number for number, name in enumerate(panel.ids) if name not in out])


def _warnings(prediction: Prediction) -> Iterator[ForecastWarning]:
    for note in prediction.notes:
        yield ForecastWarning(note)
    for finding in prediction.report.findings:
        if finding.kind in TOLD:
            yield ForecastWarning(str(finding))
    if prediction.naive:
        yield NaiveForecast(_listed("repeat their newest value", list(prediction.naive.values())))
    if prediction.left_out:
        yield SeriesLeftOut(_listed("have no forecast", list(map(str, prediction.left_out.values()))))


def _listed(what: str, reasons: list[str]) -> str:
    more = f"; and {len(reasons) - NAMED} more" if len(reasons) > NAMED else ""
    return f"{len(reasons)} series {what}: {'; '.join(reasons[:NAMED])}{more}"
