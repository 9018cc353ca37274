"""A forecast request made ready for a model: series checked one by one, limits kept, the rest filled in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from api.errors import MAX_FAULTS, Fault, Refused, invalid
from api.findings import entities, notices, series_fault, series_warnings
from api.schemas import ForecastRequest, SeriesFault, Warned
from api.settings import Settings
from api.stamps import Starts, read_starts
from api.told import check_told
from forecast.card import Card
from forecast.errors import ConfigError, DataError, FrequencyError
from forecast.frames.answer import levels_of
from forecast.frames.frequency import Frequency
from forecast.frames.panel import Panel
from forecast.frames.regular import PreparedSeries, prepare_regular
from forecast.frames.regular_series import RegularSeries
from forecast.frames.spelling import EXAMPLES
from forecast.predictor import Predictor
from forecast.request import Request


@dataclass(frozen=True, eq=False)
class Question:
    """What the model is asked, and what the answer needs to know of the request."""

    panel: Panel
    """The series that can be forecast, at least one; where there are several targets, one of each."""

    numbers: tuple[int, ...]
    """The place in the request of each series, whatever number of targets it has."""

    asked: Request
    starts: Starts
    warnings: dict[str, list[Warned]]
    notices: list[Warned]
    faults: dict[str, SeriesFault]
    """The series that cannot be forecast, by id."""


def make_ready(request: ForecastRequest, predictor: Predictor, *, limits: Settings) -> Question:
    """Check a request against a model and the limits; a bad series leaves the others alone.

    Raises:
        Refused: the columns do not fit together or the model, a limit is passed, or no series can be forecast.
    """
    card = predictor.card
    _check_columns(request, limits)
    asked = _asked(request, card, limits)
    told = check_told(request, card, horizon=asked.horizon)
    starts = read_starts(request.series.start, zone=request.zone)
    prepared = _prepared(request, starts, card, horizon=asked.horizon)
    impossible = predictor.impossible(prepared.panel, context_length=asked.context_length)
    faults = _faults(request, starts, prepared, impossible, horizon=asked.horizon)
    numbers = {name: number for number, name in enumerate(request.series.unique_id)}
    if len(faults) == len(numbers):
        raise _none_usable(faults)
    usable = [place for place, name in enumerate(entities(prepared.panel)) if name not in faults]
    panel = _select(prepared.panel, usable)
    return Question(
        panel=panel,
        numbers=tuple(numbers[name] for name in entities(panel)),
        asked=asked,
        starts=starts,
        warnings=series_warnings(prepared, panel, context_length=asked.context_length),
        notices=[*told, *notices(prepared, panel, card, zone=starts.zone)],
        faults=faults,
    )


def num_points(request: ForecastRequest) -> int:
    """Count the values of the targets in a request."""
    sent = request.series.y
    return sum(map(len, sent.values())) if isinstance(sent, dict) else len(sent)


def _check_columns(request: ForecastRequest, limits: Settings) -> None:
    """Refuse columns that contradict each other: nobody can tell which values belong to which series."""
    series = request.series
    count = len(series.unique_id)
    _keep("/series/unique_id", count, limits.max_series, "series are sent")
    points = 0
    for pointer, found in _sizes(request):
        points += found
        _keep(pointer, points, limits.max_points, "values are sent")
    for name, column in (("sizes", series.sizes), ("start", series.start)):
        if len(column) != count:
            message = f"has {len(column):,} entries for {count:,} series; send one for each"
            raise invalid(f"/series/{name}", "length_mismatch", message)
    if not isinstance(series.y, dict) and sum(series.sizes) != len(series.y):
        message = f"sum to {sum(series.sizes):,} and y has {len(series.y):,} values; both must be the same"
        raise invalid("/series/sizes", "length_mismatch", message)
    seen: set[str] = set()
    for number, name in enumerate(series.unique_id):
        if name in seen:
            raise invalid(
                f"/series/unique_id/{number}", "duplicate_id", "this id has come before; send each series once"
            )
        seen.add(name)


def _sizes(request: ForecastRequest) -> list[tuple[str, int]]:
    """Give how many values lie in each part of a request."""
    parts = {"/series/past": request.series.past, "/series/static": request.series.static, "/future": request.future}
    return [("/series/y", num_points(request)), *((at, sum(map(len, cells.values()))) for at, cells in parts.items())]


def _asked(request: ForecastRequest, card: Card, limits: Settings) -> Request:
    if request.quantiles is not None and request.level is not None:
        raise invalid("/level", "level_and_quantiles", "level and quantiles say the same in two ways; give one of them")
    pointer = "/quantiles" if request.level is None else "/level"
    levels = request.quantiles if request.level is None else levels_of(level=request.level)
    if levels is not None and not card.quantile_levels:
        raise invalid(pointer, "quantiles_unavailable", "this model forecasts points only; leave the levels out")
    asked = Request.complete(card, horizon=request.horizon, quantile_levels=levels)
    _keep("/horizon", asked.horizon, limits.max_horizon, "steps are asked for")
    num_targets = len(card.contract.columns.targets)
    values = asked.horizon * len(request.series.unique_id) * num_targets * (1 + len(asked.quantile_levels))
    what = "numbers would be answered (series x targets x horizon x levels and mean)"
    _keep("/horizon", values, limits.max_answer_values, what)
    return asked


def _keep(pointer: str, found: int, most: int, what: str) -> None:
    if found > most:
        raise invalid(pointer, "too_many", f"{found:,} {what} and {most:,} are the most; send several requests")


def _prepared(request: ForecastRequest, starts: Starts, card: Card, *, horizon: int) -> PreparedSeries:
    readable = np.array([number not in starts.faults for number in range(len(request.series.unique_id))])
    try:
        return prepare_regular(
            _series(request, starts, card).keep(readable),
            frequency=_frequency(request, card),
            contract=card.contract,
            horizon=horizon,
            schema=card.covariates,
        )
    except FrequencyError as failure:
        trained = f"the model was trained on steps of {card.frequency!r}"
        raise invalid("/freq", "wrong_frequency", f"{failure}; {trained}") from None
    except ConfigError:  # holidays of years that nobody has fixed yet
        what = "the calendar that this model is told does not reach so far; send series of other years"
        raise invalid("/series/start", "outside_calendar", what) from None


def _series(request: ForecastRequest, starts: Starts, card: Card) -> RegularSeries:
    sent, told = request.series.y, card.contract.covariates
    return RegularSeries(
        ids=tuple(request.series.unique_id),
        starts=starts.moments,
        sizes=np.array(request.series.sizes, dtype=np.int64),
        values=tuple(sent[name] for name in card.contract.columns.targets) if isinstance(sent, dict) else (sent,),
        past={name: request.series.past[name] for name in (*told.past, *told.future)},
        future={name: request.future[name] for name in told.future if name in request.future},
        static={name: request.series.static[name] for name in told.static},
    )


def _frequency(request: ForecastRequest, card: Card) -> Frequency:
    try:
        return Frequency.parse(card.frequency if request.freq is None else request.freq)
    except FrequencyError:
        raise invalid(
            "/freq", "unknown_frequency", f"no such frequency is known; write for example {EXAMPLES}"
        ) from None


def _faults(
    request: ForecastRequest,
    starts: Starts,
    prepared: PreparedSeries,
    impossible: Mapping[str | int, DataError],
    *,
    horizon: int,
) -> dict[str, SeriesFault]:
    """Give why series cannot be forecast, by id."""
    ids, panel = request.series.unique_id, prepared.panel
    first_ids = panel.ids[:: panel.num_channels]
    errors = {str(name): error for name, error in prepared.left_out.items()}
    errors |= {
        name: impossible[first] for name, first in zip(entities(panel), first_ids, strict=True) if first in impossible
    }
    faults = {ids[number]: fault for number, fault in starts.faults.items()}
    numbers = {name: number for number, name in enumerate(ids)} if errors else {}
    bounds = list(accumulate(request.series.sizes, initial=0)) if errors else []
    for name, error in errors.items():
        number = numbers[name]
        faults[name] = series_fault(error, request, number=number, first=bounds[number], horizon=horizon)
    return faults


def _none_usable(faults: Mapping[str, SeriesFault]) -> Refused:
    listed = [Fault(series=name, **dict(fault)) for name, fault in list(faults.items())[:MAX_FAULTS]]
    detail = f"none of the {len(faults):,} series can be forecast; see errors"
    return Refused(detail, status=422, code="no_usable_series", faults=listed)


def _select(panel: Panel, places: Sequence[int]) -> Panel:
    """Give the chosen series, each with all its targets."""
    count = panel.num_channels
    if len(places) * count == len(panel):
        return panel
    return panel.select([place * count + channel for place in places for channel in range(count)])
