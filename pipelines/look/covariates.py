"""What a panel's covariates are like: how much is missing, their range or their vocabulary."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from forecast.frames.covariates import UNKNOWN, Covariate, Covariates
from forecast.frames.panel import Panel
from pipelines.look.wording import figure, percent

MAX_LEVELS = 12  # that are named


@dataclass(frozen=True)
class CovariateFacts:
    """One covariate, over all series."""

    name: str
    role: str
    kind: str
    missing: float
    """Share of the rows (of the series, where it is static) that have no value."""

    holds: str
    """Its range, or its commonest levels with their share."""


def covariate_facts(panel: Panel) -> tuple[CovariateFacts, ...]:
    """Measure every covariate of a panel, in the order of its schema."""
    known = panel.covariates
    if known is None:
        return ()
    roles = [(role, covariate) for role in ("past", "future", "calendar") for covariate in getattr(known.schema, role)]
    own = _own_rows(known)
    steps = [
        _facts(covariate, role, values[own], np.ones(own.sum(), dtype=bool) if observed is None else observed[own])
        for (role, covariate), values, observed in zip(roles, known.values, known.observed, strict=True)
    ]
    static = [
        _facts(covariate, "static", known.static[:, place], known.static_observed[:, place])
        for place, covariate in enumerate(known.schema.static)
    ]
    return (*steps, *static)


def _own_rows(known: Covariates) -> np.ndarray:
    """Mark the rows that belong to a series: a panel cut from a larger one shares that one's rows."""
    num_rows = len(known.values[0]) if known.values else 0
    begins = np.bincount(known.starts, minlength=num_rows + 1)
    ends = np.bincount(known.starts + known.lengths, minlength=num_rows + 1)
    return np.cumsum(begins - ends)[:num_rows] > 0


def _facts(
    covariate: Covariate, role: str, values: Float64[np.ndarray, " row"], observed: np.ndarray
) -> CovariateFacts:
    seen = values[observed]
    missing = 1 - len(seen) / len(values) if len(values) else float("nan")
    holds = _levels(covariate, seen) if covariate.kind == "categorical" else _range(seen)
    return CovariateFacts(covariate.name, role, covariate.kind, missing, holds)


def _range(seen: Float64[np.ndarray, " value"]) -> str:
    if not len(seen):
        return "no value"
    return f"{figure(float(seen.min()))} to {figure(float(seen.max()))}, mean {figure(float(seen.mean()))}"


def _levels(covariate: Covariate, codes: Float64[np.ndarray, " value"]) -> str:
    counts = np.bincount(codes.astype(np.int64), minlength=covariate.num_codes)
    named = {"(unknown)": int(counts[UNKNOWN])} if counts[UNKNOWN] else {}
    named |= {level: int(count) for level, count in zip(covariate.levels, counts[1:], strict=True)}
    common = sorted(named.items(), key=lambda level: -level[1])[:MAX_LEVELS]
    shares = ", ".join(f"{level} {percent(count / max(len(codes), 1))}" for level, count in common)
    more = len(named) - len(common)
    return f"{covariate.num_codes - 1:,} levels: {shares}" + (f" and {more:,} more" if more else "")
