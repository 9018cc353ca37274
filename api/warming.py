"""The first forecast of a model, of a plain wave: it is the slow one, and a broken model must not answer."""

from dataclasses import replace

import numpy as np
import polars as pl

from api.catalog.base import Served
from forecast.card import Card
from forecast.errors import ArtifactError
from forecast.frames.columns import Columns
from forecast.frames.contract import DataContract
from forecast.frames.covariates import Covariates
from forecast.frames.frequency import Frequency
from forecast.frames.panel import Panel
from forecast.frames.regular import prepare_regular
from forecast.frames.regular_series import RegularSeries
from forecast.request import Request


def warm(served: Served) -> None:
    """Forecast a wave as long as the model's context, of whose covariates nothing is known.

    Raises:
        ArtifactError: the forecast is not finite.
    """
    card = served.predictor.card
    forecast = served.predictor.forecast(_wave(card), request=Request.complete(card))
    if not np.isfinite(forecast.mean).all():
        raise ArtifactError(
            f"model {served.entry.label!r} gives a forecast of a plain wave that is not finite; train anew"
        )


def _wave(card: Card) -> Panel:
    targets = card.contract.columns.target
    wave = np.sin(np.arange(card.context_length) / 7) + 2
    series = RegularSeries(
        ids=("warm",),
        starts=pl.Series([0]),
        sizes=np.array([card.context_length]),
        values=(wave,) * len(card.contract.columns.targets),
    )
    contract = DataContract(columns=Columns(target=targets))
    prepared = prepare_regular(series, frequency=Frequency.parse("1"), contract=contract, horizon=card.horizon)
    return replace(prepared.panel, covariates=_nothing_known(card, num_series=len(prepared.panel)))


def _nothing_known(card: Card, *, num_series: int) -> Covariates | None:
    if not card.covariates:
        return None
    length = card.context_length + card.horizon
    columns, static = len(card.covariates.steps), (num_series, len(card.covariates.static))
    return Covariates(
        schema=card.covariates,
        values=tuple(np.zeros(length) for _ in range(columns)),
        observed=tuple(np.zeros(length, dtype=bool) for _ in range(columns)),
        starts=np.zeros(num_series, dtype=np.int64),
        lengths=np.full(num_series, length, dtype=np.int64),
        static=np.zeros(static),
        static_observed=np.zeros(static, dtype=bool),
    )
