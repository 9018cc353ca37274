"""What goes in and what comes out of a forecast, as JSON; times and units stand with each field."""

from typing import Annotated, Any

from pydantic import (
    BaseModel,
    ConfigDict,
    FailFast,
    Field,
    NonNegativeInt,
    PlainValidator,
    PositiveInt,
    StringConstraints,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

from api.columns import MOST_COLUMNS, Cells, Numbers, read_columns, read_targets


def _integer_or_text(value: Any) -> int | str:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise PydanticCustomError("start_type", "Input should be an ISO 8601 stamp, or an integer where time is counted")


SeriesId = Annotated[str, StringConstraints(max_length=512)]

Start = Annotated[
    int | str,
    PlainValidator(_integer_or_text),
    WithJsonSchema({"anyOf": [{"type": "string", "maxLength": 40}, {"type": "integer"}]}),
]

FrequencyText = Annotated[
    str,
    # At most five digits a piece: a step of 99,999 years is more than any calendar holds.
    StringConstraints(
        pattern=r"^(?:[0-9]{0,5}[A-Za-z]{1,5}(?:-[A-Za-z0-9]{1,4}){0,3}){1,4}(?:\[[A-Za-z0-9:, -]{0,200}\])?$"
        r"|^[0-9]{1,9}$",
        max_length=250,
    ),
]

NUMBERS = {"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "null"}]}}

Targets = Annotated[
    Numbers | dict[str, Numbers],
    PlainValidator(read_targets),
    WithJsonSchema(
        {"anyOf": [NUMBERS, {"type": "object", "additionalProperties": NUMBERS, "maxProperties": MOST_COLUMNS}]}
    ),
]

CELLS = {
    "anyOf": [
        {"type": "array", "items": {"anyOf": [{"type": kind}, {"type": "null"}]}}
        for kind in ("number", "boolean", "string")
    ]
}

Covariates = Annotated[
    Cells,
    PlainValidator(read_columns),
    WithJsonSchema({"type": "object", "additionalProperties": CELLS, "maxProperties": MOST_COLUMNS}),
]

Probability = Annotated[float, Field(gt=0, lt=1)]

Percent = Annotated[float, Field(gt=0, lt=100)]


class Documented(BaseModel):
    """A part of the contract whose fields are described by their docstrings."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class Incoming(Documented):
    """A part of a request: nothing is coerced, nothing unknown is taken, no number is infinite."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class SeriesColumns(Incoming):
    """Series as columns: one id, size and start each, and all values end to end.

    The steps of a series follow its start at the frequency; a step without a value is null.
    """

    # Each list stops at its first fault: a body can hold millions.
    unique_id: Annotated[list[SeriesId], FailFast(), Field(min_length=1)]
    """The id of each series; text, each once."""

    sizes: Annotated[list[NonNegativeInt], FailFast()]
    """How many values each series has; they sum to the length of `y`."""

    start: Annotated[list[Start], FailFast()]
    """The stamp of each first value: ISO 8601, all with an offset or none (none is UTC; with `zone`, its local time);
    integers where time is counted."""

    y: Targets
    """The values of all series, one series after the other; null where one is missing. For a model of several targets
    an object that has such a list for each."""

    past: Covariates = Field(default_factory=dict)
    """The history of covariates, also of those that are known ahead: of each a list like `y`, of numbers, booleans or
    texts (categories); null where nothing is known."""

    static: Covariates = Field(default_factory=dict)
    """Covariates that have one value a series: of each a list like `unique_id`."""


class ForecastRequest(Incoming):
    """Histories to forecast, and how; what is not given is as the model was trained."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "freq": "h",
                    "horizon": 3,
                    "quantiles": [0.1, 0.5, 0.9],
                    "series": {
                        "unique_id": ["north", "south"],
                        "sizes": [4, 3],
                        "start": ["2026-11-01T00:00:00+01:00", "2026-11-01T01:00:00+01:00"],
                        "y": [31.5, 30.25, None, 29.0, 11.0, 12.5, 12.75],
                    },
                },
                {
                    "freq": "h",
                    "zone": "Europe/Berlin",
                    "horizon": 2,
                    "series": {
                        "unique_id": ["north", "south"],
                        "sizes": [3, 2],
                        "start": ["2026-11-01T00:00:00+01:00", "2026-11-01T01:00:00+01:00"],
                        "y": [31.5, 30.25, None, 11.0, 12.5],
                        "past": {
                            "wind": [4.5, 5.0, None, 7.25, 7.0],
                            "price": [60.0, 55.5, 54.0, 55.5, 54.0],
                            "works": [False, False, True, False, False],
                        },
                        "static": {"region": ["coast", "inland"]},
                    },
                    "future": {"price": [52.0, 58.5, 52.0, 58.5], "works": [True, False, False, False]},
                },
            ]
        }
    )

    model: Annotated[str, StringConstraints(min_length=1, max_length=300)] | None = None
    """`name@alias`, `name/version`, or `name` for its champion; the service's default where it is absent."""

    freq: FrequencyText | None = None
    """How far apart the steps are, as pandas or polars spell it (`h`, `30min`, `D`, `W-MON`, `ME`, `1d`), with
    days of business in brackets (`B[DE]`), or a whole number where time is counted."""

    zone: Annotated[str, StringConstraints(min_length=1, max_length=64)] | None = None
    """The IANA name of the time zone in which days are counted and stamps are written."""

    horizon: PositiveInt | None = None
    """Steps to forecast after the end of each series."""

    quantiles: Annotated[list[Probability], Field(min_length=1, max_length=99)] | None = None
    """Probabilities at which to give quantiles."""

    level: Annotated[list[Percent], Field(min_length=1, max_length=49)] | None = None
    """Central intervals in percent, in place of `quantiles`: 80 asks for the quantiles 0.1 and 0.9."""

    series: SeriesColumns

    future: Covariates = Field(default_factory=dict)
    """Covariates that are known ahead, at the steps to forecast: of each a list of `horizon` cells a series, one series
    after the other. What a calendar says is not among them: it is made from the stamps."""


class ModelReference(Documented):
    """Which model answered."""

    name: str
    version: str
    digest: str
    """SHA-256 of the artifact's card, which holds the one of its weights."""


class ForecastSteps(Documented):
    """The steps forecast as columns, laid out as the request's: `sizes` steps a series, one series after the other."""

    unique_id: list[str]
    sizes: list[int]
    start: list[str | int]
    """The first stamp forecast of each series."""

    timestamps: list[str | int]
    """The stamp of every step, written as the request wrote its starts: with their offset, in `zone`, or with none."""


class TargetForecast(Documented):
    """What is forecast of one target at every step."""

    mean: list[float]
    """The mean of the forecast distribution, in the units of the target."""

    quantiles: dict[str, list[float]]
    """One list a level, by the decimal of the level (`"0.1"`); ascending, and never crossing."""


class ForecastColumns(ForecastSteps, TargetForecast):
    """Forecasts of one target."""


class ForecastsByTarget(ForecastSteps):
    """Forecasts of several targets."""

    targets: dict[str, TargetForecast]
    """By the names that the targets have in `y`."""


class Warned(Documented):
    """Something to know before trusting a forecast."""

    code: str
    message: str


class SeriesFault(Documented):
    """Why a series has no forecast."""

    pointer: str
    """JSON pointer into the request."""

    code: str
    message: str
    field: str | None


class ForecastAnswer(Documented):
    """The forecasts of the series that have one; the others stand in `errors`."""

    model: ModelReference
    freq: str
    """The frequency, spelt as pandas does."""

    zone: str | None
    """The zone of the stamps: the one asked for, `UTC`, or the offset that all starts share; null for integers and for
    starts of several offsets."""

    horizon: int
    series: ForecastColumns | ForecastsByTarget
    """`targets` stands in place of `mean` and `quantiles` where the model has several targets."""

    warnings: dict[str, list[Warned]]
    """By series: what was found in its history."""

    notices: list[Warned]
    """What concerns all series."""

    errors: dict[str, SeriesFault]
    """By series: why it has no forecast."""
