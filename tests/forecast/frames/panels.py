"""Panels for the tests of stores: made directly, with everything that a panel can have."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from hypothesis import strategies as st

from forecast.frames.calendar.base import Origins
from forecast.frames.column_type import ColumnType
from forecast.frames.covariates import Covariate, Covariates, CovariateSchema
from forecast.frames.frequency import Frequency
from forecast.frames.panel import Channels, Panel
from forecast.frames.text_time import TextFormat
from forecast.frames.time import StampType, TimeAxis

BERLIN = pl.Datetime("ns", "Europe/Berlin")

STAMPS = {
    "integers": (1, StampType(ColumnType(pl.Int32()), pl.Int64())),
    "dates": ("W-MON", StampType(ColumnType(pl.Date()), pl.Datetime("us"))),
    "zone-aware": ("h", StampType(ColumnType(BERLIN), BERLIN)),
    "naive in a zone": ("15min", StampType(ColumnType(pl.Datetime("ms")), pl.Datetime("ms", "UTC"), naive=True)),
    "text": ("ME", StampType(ColumnType(pl.String()), pl.Datetime("us"), TextFormat.of("2024-01-31"))),
    "text with an offset": (
        "D",
        StampType(ColumnType(pl.String()), pl.Datetime("us", "UTC"), TextFormat.of("2024-01-31T00:00:00.25+01:00")),
    ),
}
"""Frequencies with the ways in which stamps are written."""

ROLES = {
    "none": {},
    "all roles": {
        "past": (Covariate(name="wind"),),
        "future": (Covariate(name="price"), Covariate(name="event", kind="categorical")),
        "calendar": (Covariate(name="hour"),),
        "static": (Covariate(name="area"), Covariate(name="region", kind="categorical")),
    },
    "static alone": {"static": (Covariate(name="region", kind="categorical"),)},
}
LEVELS = ("north", "south", "ost", "ångström", "")


@dataclass(frozen=True)
class Build:
    """What all panels that are joined share."""

    stamps: str = "zone-aware"
    roles: str = "all roles"
    weights: bool | None = True
    """None draws it for each panel."""
    num_channels: int = 0
    masks: bool | None = None
    id_type: pl.DataType | None = field(default_factory=pl.String)


BUILDS = st.builds(
    Build,
    stamps=st.sampled_from(list(STAMPS)),
    roles=st.sampled_from(list(ROLES)),
    weights=st.sampled_from([True, False, None]),
    num_channels=st.sampled_from([0, 0, 2]),
    masks=st.sampled_from([True, False, None]),
    id_type=st.sampled_from([pl.String(), None]),
)


def panel_from(build: Build, *, seed: int, prefix: str = "", num_entities: int | None = None) -> Panel:
    """A panel of random content that the seed decides."""
    random = np.random.default_rng(seed)
    fewest = 0 if build.id_type else 1  # where no type is given the ids themselves say theirs
    count = int(random.integers(fewest, 5)) if num_entities is None else num_entities
    entities = [f"{prefix}{number}" for number in range(count)]
    names = [f"channel {number}" for number in range(build.num_channels)]
    ids = [f"{entity}/{name}" for entity in entities for name in names] if names else entities
    lengths = random.integers(0, 9, len(ids))
    observed = random.random(lengths.sum()) < 0.8
    return Panel(
        ids=tuple(ids),
        values=np.where(observed, random.normal(size=len(observed)), 0.0),
        observed=observed,
        offsets=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        axis=_axis(build, random, count=len(ids)),
        id_type=None if build.id_type is None else ColumnType(build.id_type),
        covariates=None if build.roles == "none" else _covariates(build, random, lengths),
        weights=random.random(len(observed)) if _drawn(build.weights, random) else None,
        channels=Channels(tuple(names), tuple(entities)) if names else None,
    )


def _drawn(choice: bool | None, random: np.random.Generator) -> bool:
    return bool(random.integers(2)) if choice is None else choice


def _axis(build: Build, random: np.random.Generator, *, count: int) -> TimeAxis:
    frequency, stamp_type = STAMPS[build.stamps]
    places, times_of_day, month_days = (random.integers(0, 20_000, count) for _ in range(3))
    return TimeAxis(Frequency.parse(frequency), stamp_type, Origins(places, times_of_day, month_days))


def _covariates(build: Build, random: np.random.Generator, lengths: np.ndarray) -> Covariates:
    roles = {
        role: tuple(_with_levels(covariate, random) for covariate in covariates)
        for role, covariates in ROLES[build.roles].items()
    }
    schema = CovariateSchema(**roles)
    known = lengths + random.integers(0, 4, len(lengths))
    rows = int(known.sum()) if schema.steps else 0
    return Covariates(
        schema=schema,
        values=tuple(_column(covariate, random, rows) for covariate in schema.steps),
        observed=tuple(random.random(rows) < 0.7 if _drawn(build.masks, random) else None for _ in schema.steps),
        starts=np.concatenate([[0], np.cumsum(known)[:-1]]).astype(np.int64)[: len(lengths)],
        lengths=known.astype(np.int64),
        static=np.stack([_column(covariate, random, len(lengths)) for covariate in schema.static], axis=1),
        static_observed=random.random((len(lengths), len(schema.static))) < 0.7,
    )


def _with_levels(covariate: Covariate, random: np.random.Generator) -> Covariate:
    if covariate.kind == "numeric":
        return covariate
    chosen = random.permutation(LEVELS)[: random.integers(1, len(LEVELS) + 1)]
    return Covariate(name=covariate.name, kind="categorical", levels=tuple(map(str, chosen)))


def _column(covariate: Covariate, random: np.random.Generator, rows: int) -> np.ndarray:
    if covariate.kind == "categorical":
        return random.integers(0, covariate.num_codes, rows).astype(np.float64)
    return random.normal(size=rows)


def spelt(covariates: Covariates) -> list[list[list[object]]]:
    """What each series is told, step by step, with the levels of categories in place of their codes."""
    told = []
    for number, (start, length) in enumerate(zip(covariates.starts, covariates.lengths, strict=True)):
        place = slice(int(start), int(start + length))
        steps = [
            _spelt(one, values[place]) for one, values in zip(covariates.schema.steps, covariates.values, strict=True)
        ]
        masks = [[True] * int(length) if mask is None else mask[place].tolist() for mask in covariates.observed]
        static = [
            _spelt(one, covariates.static[number : number + 1, place])
            for place, one in enumerate(covariates.schema.static)
        ]
        told.append([*steps, *masks, *static, covariates.static_observed[number].tolist()])
    return told


def _spelt(covariate: Covariate, values: np.ndarray) -> list[object]:
    if covariate.kind == "numeric":
        return values.tolist()
    return [("unknown", *covariate.levels)[int(code)] for code in values]
