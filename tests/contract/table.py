"""The data contract as a table: what people send, what they get, and by which doors; each row has tests of its kind."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Test = TypeVar("Test", bound=Callable[..., Any])

ALL = ("python", "command line", "http")
PYTHON = ("python",)
FRAMES = ("python", "command line")

REGULAR = "a request gives each series a start and its values in a row, so this cannot be said in it"
TRAINING = "nothing is trained over HTTP, and the command line trains by the same flow"


@dataclass(frozen=True)
class Row:
    """One row of the contract."""

    id: str
    kind: str
    """What is sent, or done."""
    right: str
    """What is right."""
    faces: tuple[str, ...] = ALL
    why: str = ""
    """Why not by every door."""


ROWS = {
    row.id: row
    for row in (
        # ---- Length
        Row("length-short", "series shorter than a window", "train on what fits, say the rest", PYTHON, TRAINING),
        Row("length-one", "one value, or none of late, or none at all", "a flagged naive forecast; no value: named"),
        Row(
            "length-patches", "a context that fills no whole number of patches", "padded left; the newest value counts"
        ),
        Row("length-any", "any context with any horizon", "a finite forecast"),
        Row("length-ends", "series that end on different dates", "each goes on from its own end"),
        Row("length-stranger", "a series that training never saw", "forecast from its own past"),
        Row("length-last-batch", "a last batch that is not full", "figures do not depend on batches", PYTHON, TRAINING),
        # ---- Time
        Row("time-weeks", "weeks that start on any day", "the anchor is in the stamps; a contradiction is refused"),
        Row(
            "time-faults",
            "duplicates, gaps, strays in some series",
            "each found, each with its message",
            FRAMES,
            REGULAR,
        ),
        Row("time-zones", "stamps with a zone, over a clock change", "no gap, no duplicate; the zone comes back"),
        Row("time-spellings", "old and new spellings of a frequency", "the same forecast"),
        Row("time-months", "month ends, mid-months, business days", "future stamps go on in the pattern"),
        Row("time-kinds", "integers, text, floats as time", "steps; read or refused by name; never 1970"),
        Row("time-types", "any dtype, unit and zone of time", "the same come back"),
        Row("time-two-rows", "a history too short to tell its frequency", "that of the model, or the one given"),
        Row("time-order", "rows and columns in any order", "nothing changes"),
        # ---- Values
        Row("values-missing", "missing targets and covariates", "masked; what must be known is refused by name"),
        Row("values-constant", "constant series", "exactly that constant comes out"),
        Row("values-huge", "values near 1e20, integers near 2**53", "finite; what is repeated is exact"),
        Row("values-types", "integers, booleans, decimals, text", "any number is read; text is refused by name"),
        Row("values-counts", "counts that cannot be negative", "cut at 0 where asked for, and only there"),
        Row("values-season", "a metric without a scale", "left out of the mean and counted", PYTHON, TRAINING),
        Row("values-infinite", "infinite values", "refused and named"),
        # ---- Covariates
        Row("covariates-missing", "a future frame that lacks rows", "the pairs are listed; a template can be had"),
        Row(
            "covariates-extra",
            "a future frame with other rows too",
            "matched by key; the rest dropped with a notice",
            FRAMES,
            REGULAR,
        ),
        Row(
            "covariates-unknown",
            "a category that training never saw",
            "unknown, with a warning; the vocabulary is kept",
        ),
        Row("covariates-codes", "levels in another order, or unused", "frozen codes; observed ids only"),
        # ---- Evaluation
        Row("evaluation-scales", "what is held out", "shapes no scale", PYTHON, TRAINING),
        Row("evaluation-leak", "whatever comes after a cutoff", "changes no forecast made at it"),
        Row("evaluation-stopping", "early stopping without validation", "refused at once", PYTHON, TRAINING),
        Row("evaluation-units", "validation figures", "one scale for all", PYTHON, TRAINING),
        Row("evaluation-keys", "the rows of an answer", "always keyed; frame and panel give the same numbers"),
        # ---- Probability
        Row("probability-monotone", "any set of levels", "quantiles never cross"),
        Row("probability-level", "central intervals or quantiles", "the same request, the same numbers"),
        Row("probability-names", "levels close to each other", "names by their decimals, no two alike"),
        # ---- Devices, batches, artifacts
        Row("batch-alone", "a series alone or in company", "the same forecast"),
        Row("batch-seed", "the same seed", "the same weights to the bit", PYTHON, TRAINING),
        Row(
            "artifact-device",
            "a model trained elsewhere",
            "the device is chosen when it is loaded",
            PYTHON,
            "a door has its device from its settings",
        ),
        Row(
            "artifact-format",
            "an artifact of an earlier version",
            "it is still read",
            PYTHON,
            "every door loads by the same function",
        ),
        Row("artifact-enough", "an artifact and a frame", "are enough; the forecast follows the frame"),
        Row("windows-lazy", "very many windows", "memory for the data alone", PYTHON, TRAINING),
        Row("request-path", "a forecast", "no trainer in its path"),
        Row(
            "nothing-written",
            "training and forecasting",
            "nothing is written or printed that was not asked for",
            FRAMES,
            "a service writes its log, and says so",
        ),
    )
}


def covers(row: str) -> Callable[[Test], Test]:
    """Mark a test as one of a row."""

    def mark(test: Test) -> Test:
        test.contract_row = ROWS[row].id  # ty: ignore[unresolved-attribute]
        return test

    return mark
