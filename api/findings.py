"""What was found in the series of a request, as its answer tells it: faults by pointer, warnings, notices."""

import re
from collections.abc import Mapping

import polars as pl

from api.errors import pointer_to
from api.schemas import ForecastRequest, SeriesFault, Warned
from forecast.card import Card
from forecast.errors import CovariatesMissing, DataError, SeriesTooShort
from forecast.frames.frequency import Frequency
from forecast.frames.panel import Panel
from forecast.frames.regular import PreparedSeries
from forecast.frames.regular_series import TIME
from forecast.last_seen import naive_series


def entities(panel: Panel) -> tuple[str, ...]:
    """Give the id of each series as it was sent, whatever number of targets it has."""
    return tuple(map(str, panel.ids if panel.channels is None else panel.channels.entities))


def series_fault(error: DataError, request: ForecastRequest, *, number: int, first: int, horizon: int) -> SeriesFault:
    """Point at the part of the request in which a series is at fault; `first` is the place of its first value."""
    field, pointer = _place(error, request, number=number, first=first, horizon=horizon)
    code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()
    return SeriesFault(pointer=pointer, code=code, message=str(error), field=field)


def _place(error: DataError, request: ForecastRequest, *, number: int, first: int, horizon: int) -> tuple[str, str]:
    sent, name = request.series.y, request.series.unique_id[number]
    if isinstance(error, CovariatesMissing):
        column = str(error.field)
        pointer = pointer_to("/future", column)
        return column, pointer_to(pointer, number * horizon) if column in request.future else pointer
    if isinstance(error, SeriesTooShort):
        return "sizes", f"/series/sizes/{number}"
    if error.field == TIME:
        return TIME, f"/series/start/{number}"
    if not isinstance(sent, dict):
        return "y", f"/series/y/{first}"
    target = str(error.series).removeprefix(f"{name}/")
    return target, pointer_to("/series/y", target, first)


def series_warnings(prepared: PreparedSeries, panel: Panel, *, context_length: int) -> dict[str, list[Warned]]:
    """Give what was found in the history of each series of the panel, by its id as it was sent."""
    owners = _owners(panel)
    warnings: dict[str, list[Warned]] = {}
    for finding in prepared.findings:
        if finding.series in owners:
            told = f"{finding.message}: {finding.action}" if panel.channels is None else str(finding)
            warnings.setdefault(owners[finding.series], []).append(Warned(code=finding.kind, message=told))
    for series, message in naive_series(panel, context_length=context_length).items():
        warnings.setdefault(owners[series], []).append(Warned(code="naive", message=message))
    return warnings


def _owners(panel: Panel) -> Mapping[str | int | None, str]:
    """Give the id that was sent by the id in the panel, which says the target too where there are several."""
    count = panel.num_channels
    sent = entities(panel)
    return {name: sent[place // count] for place, name in enumerate(panel.ids)}


def notices(prepared: PreparedSeries, panel: Panel, card: Card, *, zone: str | None) -> list[Warned]:
    """Give what concerns all series."""
    found = [
        Warned(code=finding.kind, message=f"{finding.message}: {finding.action}")
        for finding in prepared.findings
        if finding.series is None
    ]
    return [*found, *_other_frequency(panel, card), *_other_zone(panel, card, zone)]


def _other_frequency(panel: Panel, card: Card) -> list[Warned]:
    if panel.axis.frequency == Frequency.parse(card.frequency):
        return []
    message = f"the model was trained on steps of {card.frequency!r}: check by a backtest how well it does on others"
    return [Warned(code="other_frequency", message=message)]


def _other_zone(panel: Panel, card: Card, zone: str | None) -> list[Warned]:
    """Tell where hours and days are not those that the model has learnt calendar features of."""
    trained = card.contract.zone or card.time.zone
    counted = panel.axis.stamp_type.dtype == pl.Int64
    if counted or trained is None or zone == trained or not card.covariates.calendar:
        return []
    message = f"the model was trained on hours and days of {trained}, these are of another zone: send zone {trained!r}"
    return [Warned(code="other_zone", message=message)]
