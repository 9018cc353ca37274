"""A forecast request made ready for a model: series checked one by one, limits kept, the rest filled in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from api.errors import MAX_FAULTS, Fault, Refused, invalid
from api.schemas import ForecastRequest, SeriesColumns, SeriesFault, Warned
from api.settings import Settings
from api.stamps import Starts, read_starts
from forecast.card import Card
from forecast.errors import DataError, FrequencyError, SeriesTooShort
from forecast.frames.answer import levels_of
from forecast.frames.frequency import Frequency
from forecast.frames.panel import Panel
from forecast.frames.regular import PreparedSeries, RegularSeries, prepare_regular
from forecast.frames.spelling import EXAMPLES
from forecast.predictor import blind_series
from forecast.request import Request


@dataclass(frozen=True, eq=False)
class Question:
    """What the model is asked, and what the answer needs to know of the request."""

    panel: Panel
    """The series that can be forecast, at least one."""

    numbers: tuple[int, ...]
    """The place in the request of each series of the panel."""

    asked: Request
    starts: Starts
    warnings: dict[str, list[Warned]]
    notices: list[Warned]
    faults: dict[str, SeriesFault]
    """The series that cannot be forecast, by id."""


def make_ready(request: ForecastRequest, card: Card, *, limits: Settings) -> Question:
    """Check a request against a model and the limits; a bad series leaves the others alone.

    Raises:
        Refused: the columns do not fit together, a limit is passed, or no series can be forecast.
    """
    _check_columns(request.series, limits)
    asked = _asked(request, card, limits)
    starts = read_starts(request.series.start, zone=request.zone)
    faults = {request.series.unique_id[number]: fault for number, fault in starts.faults.items()}
    prepared = _prepared(request, starts, card, horizon=asked.horizon)
    blind = blind_series(prepared.panel, context_length=asked.context_length)
    numbers = {name: number for number, name in enumerate(request.series.unique_id)}
    for name, error in {**prepared.left_out, **blind}.items():
        faults[str(name)] = _fault(error, numbers[str(name)], request.series)
    if len(faults) == len(numbers):
        raise _none_usable(faults)
    usable = [name for name in map(str, prepared.panel.ids) if name not in faults]
    return Question(
        panel=prepared.panel.select([place for place, name in enumerate(prepared.panel.ids) if name not in faults]),
        numbers=tuple(numbers[name] for name in usable),
        asked=asked,
        starts=starts,
        warnings=_warnings(prepared, faults),
        notices=_notices(prepared.panel, card),
        faults=faults,
    )


def _asked(request: ForecastRequest, card: Card, limits: Settings) -> Request:
    if request.quantiles is not None and request.level is not None:
        raise invalid("/level", "level_and_quantiles", "level and quantiles say the same in two ways; give one of them")
    pointer = "/quantiles" if request.level is None else "/level"
    levels = request.quantiles if request.level is None else levels_of(level=request.level)
    if levels is not None and not card.quantile_levels:
        raise invalid(pointer, "quantiles_unavailable", "this model forecasts points only; leave the levels out")
    asked = Request.complete(card, horizon=request.horizon, quantile_levels=levels)
    _keep("/horizon", asked.horizon, limits.max_horizon, "steps are asked for")
    values = asked.horizon * len(request.series.unique_id) * (1 + len(asked.quantile_levels))
    _keep(
        "/horizon", values, limits.max_answer_values, "numbers would be answered (series x horizon x levels and mean)"
    )
    return asked


def _keep(pointer: str, found: int, most: int, what: str) -> None:
    if found > most:
        raise invalid(pointer, "too_many", f"{found:,} {what} and {most:,} are the most; send several requests")


def _check_columns(series: SeriesColumns, limits: Settings) -> None:
    """Refuse columns that contradict each other: nobody can tell which values belong to which series."""
    count = len(series.unique_id)
    _keep("/series/unique_id", count, limits.max_series, "series are sent")
    _keep("/series/y", len(series.y), limits.max_points, "values are sent")
    for name, column in (("sizes", series.sizes), ("start", series.start)):
        if len(column) != count:
            message = f"has {len(column):,} entries for {count:,} series; send one for each"
            raise invalid(f"/series/{name}", "length_mismatch", message)
    if sum(series.sizes) != len(series.y):
        message = f"sum to {sum(series.sizes):,} and y has {len(series.y):,} values; both must be the same"
        raise invalid("/series/sizes", "length_mismatch", message)
    seen: set[str] = set()
    for number, name in enumerate(series.unique_id):
        if name in seen:
            raise invalid(
                f"/series/unique_id/{number}", "duplicate_id", "this id has come before; send each series once"
            )
        seen.add(name)


def _prepared(request: ForecastRequest, starts: Starts, card: Card, *, horizon: int) -> PreparedSeries:
    readable = np.array([number not in starts.faults for number in range(len(request.series.unique_id))])
    sizes = np.array(request.series.sizes, dtype=np.int64)
    values = np.array(request.series.y, dtype=np.float64)  # None becomes NaN
    series = RegularSeries(
        ids=tuple(name for name, kept in zip(request.series.unique_id, readable, strict=True) if kept),
        starts=starts.moments.filter(pl.Series(readable)),
        sizes=sizes[readable],
        values=values[np.repeat(readable, sizes)],
    )
    try:
        frequency = Frequency.parse(card.frequency if request.freq is None else request.freq)
    except FrequencyError:
        raise invalid(
            "/freq", "unknown_frequency", f"no such frequency is known; write for example {EXAMPLES}"
        ) from None
    try:
        return prepare_regular(series, frequency=frequency, contract=card.contract, horizon=horizon)
    except FrequencyError as failure:
        raise invalid("/freq", "wrong_frequency", str(failure)) from None


def _fault(error: DataError, number: int, series: SeriesColumns) -> SeriesFault:
    """Point at the part of the request in which a series is at fault."""
    if error.field == "start":
        place = f"start/{number}"
    elif isinstance(error, SeriesTooShort):
        place = f"sizes/{number}"
    else:
        place = f"y/{sum(series.sizes[:number])}"
    code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__).lower()
    return SeriesFault(pointer=f"/series/{place}", code=code, message=str(error), field=place.partition("/")[0])


def _none_usable(faults: Mapping[str, SeriesFault]) -> Refused:
    listed = [Fault(series=name, **dict(fault)) for name, fault in list(faults.items())[:MAX_FAULTS]]
    detail = f"none of the {len(faults):,} series can be forecast; see errors"
    return Refused(detail, status=422, code="no_usable_series", faults=listed)


def _warnings(prepared: PreparedSeries, faults: Mapping[str, SeriesFault]) -> dict[str, list[Warned]]:
    warnings: dict[str, list[Warned]] = {}
    for finding in prepared.findings:
        if (name := str(finding.series)) not in faults:
            warned = Warned(code=finding.kind, message=f"{finding.message}: {finding.action}")
            warnings.setdefault(name, []).append(warned)
    return warnings


def _notices(panel: Panel, card: Card) -> list[Warned]:
    if panel.axis.frequency == Frequency.parse(card.frequency):
        return []
    message = f"the model was trained on steps of {card.frequency!r}: check by a backtest how well it does on others"
    return [Warned(code="other_frequency", message=message)]
