"""What a request tells beside what the model knows: its targets and covariates by name, length and type."""

from collections.abc import Iterator, Sequence

import polars as pl

from api.columns import Cells
from api.errors import Fault, Refused, fault_at, pointer_to
from api.schemas import ForecastRequest, Warned
from forecast.card import Card
from forecast.frames.covariates import Covariate

NAMED, LONGEST = 5, 60
"""Unused columns that a notice names, and characters of each: a body can hold thousands of any length."""


def check_told(request: ForecastRequest, card: Card, *, horizon: int) -> list[Warned]:
    """Check that the targets and covariates are the model's, and give notices of columns that are not used.

    What is known ahead may be absent, since the series alone are at fault then, each by name.

    Raises:
        Refused: a column is absent, or of another length or type.
    """
    series, schema = request.series, card.covariates
    faults = [
        *_targets(request, card.contract.columns.targets),
        *_absent(series.past, (*schema.past, *schema.future), "/series/past", "one cell a step, null where unknown"),
        *_absent(series.static, schema.static, "/series/static", "one cell a series, null where unknown"),
        *_unfit(series.past, (*schema.past, *schema.future), "/series/past", length=sum(series.sizes)),
        *_unfit(series.static, schema.static, "/series/static", length=len(series.unique_id)),
        *_unfit(request.future, schema.future, "/future", length=horizon * len(series.unique_id)),
    ]
    if faults:
        detail = "the request does not tell what the model is told; see errors, and what it is told at /v1/models"
        raise Refused(detail, status=422, code="invalid_request", faults=faults)
    return [
        *_unused(series.past, (*schema.past, *schema.future), "/series/past"),
        *_unused(series.static, schema.static, "/series/static"),
        *_unused(request.future, schema.future, "/future"),
    ]


def _targets(request: ForecastRequest, targets: Sequence[str]) -> Iterator[Fault]:
    sent, place = request.series.y, "/series/y"
    if len(targets) == 1:
        if isinstance(sent, dict):
            yield fault_at(place, "one_target", "this model forecasts one target; send one list of its values")
        return
    if not isinstance(sent, dict):
        message = "this model forecasts several targets; send an object that has a list for each"
        yield fault_at(place, "several_targets", message)
        return
    for name in targets:
        if name not in sent:
            yield fault_at(pointer_to(place, name), "missing", "this model forecasts this target too; send its values")
        elif len(sent[name]) != sum(request.series.sizes):
            yield _other_length(pointer_to(place, name), len(sent[name]), sum(request.series.sizes))
    for name in sent:
        if name not in targets:
            yield fault_at(pointer_to(place, name), "unknown_key", "this model does not forecast it; remove it")


def _absent(cells: Cells, covariates: Sequence[Covariate], place: str, what: str) -> Iterator[Fault]:
    for covariate in covariates:
        if covariate.name not in cells:
            pointer = pointer_to(place, covariate.name)
            yield fault_at(pointer, "missing", f"this model is told this covariate; send {what}")


def _unfit(cells: Cells, covariates: Sequence[Covariate], place: str, *, length: int) -> Iterator[Fault]:
    for covariate in covariates:
        column = cells.get(covariate.name)
        pointer = pointer_to(place, covariate.name)
        if column is None:
            continue
        if len(column) != length:
            yield _other_length(pointer, len(column), length)
        elif covariate.kind == "numeric" and column.dtype == pl.String:
            yield fault_at(pointer, "wrong_type", "this model knows this covariate as numbers or booleans, not as text")


def _other_length(pointer: str, found: int, wanted: int) -> Fault:
    return fault_at(pointer, "length_mismatch", f"has {found:,} cells and {wanted:,} are needed")


def _unused(cells: Cells, covariates: Sequence[Covariate], place: str) -> Iterator[Warned]:
    known = {covariate.name for covariate in covariates}
    names = [name for name in cells if name not in known]
    if names:
        listed = ", ".join(repr(name[:LONGEST]) for name in names[:NAMED])
        more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
        message = f"{place} has columns that this model is not told there: {listed}{more}: not used"
        yield Warned(code="unused_covariates", message=message)
