"""An artifact made callable: a frame of history in, a frame of forecasts out, with no trainer between them."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Bool, Int64

from forecast.artifact import Artifact, load_artifact
from forecast.batch import cut_windows
from forecast.card import Card
from forecast.errors import MissingValues
from forecast.forecast import Forecast
from forecast.frames.answer import forecast_frame
from forecast.frames.contract import DataContract, prepare
from forecast.frames.door import Kind, kind_of
from forecast.frames.panel import Panel
from forecast.frames.report import Report
from forecast.request import Levels, Request

STEPS_A_BATCH = 131_072  # past and horizon together: 64 windows of 2,048 steps, some 100 MB of activations at d_model 64
NAMED = 3  # series that a message names; a frame can hold thousands


class SeriesLeftOut(UserWarning):
    """Some series of a frame cannot be forecast; the others are."""


@dataclass(frozen=True)
class LeftOut:
    """A series of the frame that has no forecast, and why."""

    series: str | int
    reason: str


@dataclass(frozen=True, eq=False)
class Prediction:
    """The answer to one frame."""

    panel: Panel
    """The series forecast, in the order of their first row."""

    forecast: Forecast
    """One row a series of `panel`."""

    report: Report
    """What the contract found in the frame."""

    left_out: tuple[LeftOut, ...]
    contract: DataContract

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the caller should hear of, for people: what the contract did to the frame, and who was left out."""
        found = tuple(str(finding) for finding in self.report.findings)
        return found + tuple(f"series {left.series!r}: {left.reason}" for left in self.left_out)

    def frame(self, *, like: Kind) -> Any:
        """Dress the forecast: id, time, `mean`, and a column a quantile level, in the caller's types."""
        return forecast_frame(self.panel, self.forecast, like=like, columns=self.contract.columns)


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
        horizon: int | None = None,
        level: Levels | None = None,
        quantile_levels: Levels | None = None,
        frequency: str | None = None,
        context_length: int | None = None,
    ) -> Any:
        """Forecast every series of a long frame from its own end; the answer is of the frame's kind.

        What is not given is as it was trained. `level=80` asks for the interval between the levels 0.1 and 0.9. Series
        that cannot be forecast are left out with a `SeriesLeftOut` warning.

        Raises:
            ConfigError: a request that makes no sense; `field` says which part.
            DataError: the frame breaks the contract, or none of its series can be forecast.
            QuantilesUnavailable: levels were asked of a point model.
            ContextTooLong: the model's positions do not reach as far as the context asked for.
        """
        request = self.request(
            horizon=horizon, level=level, quantile_levels=quantile_levels, context_length=context_length
        )
        prediction = self.answer(frame, request=request, frequency=frequency)
        if prediction.left_out:
            warnings.warn(_sentence(prediction.left_out), SeriesLeftOut, stacklevel=2)
        return prediction.frame(like=kind_of(frame))

    def request(self, **asked: Any) -> Request:
        """Complete what is asked for by what was trained (`Request.complete`, with its arguments and errors)."""
        return Request.complete(self.card, **asked)

    def answer(self, frame: Any, *, request: Request, frequency: str | None = None) -> Prediction:
        """Forecast every series of a long frame that can be, and say which cannot, as `predict` does, as a value."""
        contract = replace(self.card.contract, frequency=frequency or self.card.frequency)
        prepared = prepare(frame, contract)
        usable = observed_lately(prepared.panel, context_length=request.context_length)
        left_out = _left_out(prepared.panel, np.flatnonzero(~usable), context_length=request.context_length)
        if not usable.any():
            raise MissingValues(_sentence(left_out), field=contract.columns.target)
        panel = prepared.panel.select(np.flatnonzero(usable).tolist()) if left_out else prepared.panel
        forecast = self.predict_panel(panel, request=request)
        return Prediction(panel, forecast, report=prepared.report, left_out=left_out, contract=contract)

    def predict_panel(self, panel: Panel, *, request: Request) -> Forecast:
        """Forecast every series of a panel from its end, in batches whose size changes no forecast.

        Each series must be observed somewhere in its newest `context_length` steps (`observed_lately`).
        """
        parts = [self._forecast(panel, numbers, request=request) for numbers in _batches(len(panel), request)]
        return Forecast(
            mean=np.concatenate([part.mean for part in parts]),
            quantiles=np.concatenate([part.quantiles for part in parts]),
            quantile_levels=request.quantile_levels,
        )

    def _forecast(self, panel: Panel, numbers: Int64[np.ndarray, " batch"], *, request: Request) -> Forecast:
        model = self.artifact.model
        windows = cut_windows(
            panel, series=numbers, origins=panel.lengths[numbers], context_length=request.context_length, horizon=0
        ).to(next(model.parameters()).device)
        return model.forecast(
            windows.past, windows.past_observed, horizon=request.horizon, quantile_levels=request.quantile_levels
        )


def observed_lately(panel: Panel, *, context_length: int) -> Bool[np.ndarray, " series"]:
    """Tell for each series whether any of its newest `context_length` steps is observed: else there is nothing to go by."""
    seen = np.concatenate([[0], np.cumsum(panel.observed)])
    ends = panel.offsets[1:]
    return seen[ends] > seen[np.maximum(panel.offsets[:-1], ends - context_length)]


def _batches(num_series: int, request: Request) -> Iterator[Int64[np.ndarray, " batch"]]:
    size = max(1, STEPS_A_BATCH // (request.context_length + request.horizon))
    for first in range(0, num_series, size):
        yield np.arange(first, min(first + size, num_series), dtype=np.int64)


def _left_out(panel: Panel, numbers: Int64[np.ndarray, " n"], *, context_length: int) -> tuple[LeftOut, ...]:
    return tuple(
        LeftOut(
            panel.ids[number],
            f"none of its newest {min(context_length, panel.lengths[number])} steps is observed, so there is nothing to "
            f"forecast from; send values, or leave the series out",
        )
        for number in numbers
    )


def _sentence(left_out: tuple[LeftOut, ...]) -> str:
    named = "; ".join(f"series {left.series!r}: {left.reason}" for left in left_out[:NAMED])
    more = f"; and {len(left_out) - NAMED} more" if len(left_out) > NAMED else ""
    return f"{len(left_out)} series cannot be forecast: {named}{more}"
