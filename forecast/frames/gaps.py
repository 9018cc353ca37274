"""The steps inside series that have no row, told apart: real gaps, and an hour that local times cannot say twice."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int64

from forecast.frames.clock import to_instants
from forecast.frames.rows import Group, stamp_text
from forecast.frames.stepped import Stepped


@dataclass(frozen=True, eq=False)
class Absent:
    """Steps without a row, grouped by series."""

    gaps: list[Group]
    second_passes: list[Group]
    """Steps in the second pass through an hour that comes twice, where the caller's stamps carry no zone."""


def absent_steps(stepped: Stepped) -> Absent:
    """Find the steps inside each series that have no row."""
    before = np.flatnonzero((np.diff(stepped.rows.series) == 0) & (np.diff(stepped.steps) > 1))
    if not len(before):
        return Absent([], [])
    counts = stepped.steps[before + 1] - stepped.steps[before] - 1
    group = np.repeat(stepped.rows.group[before], counts)
    within = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
    steps = np.repeat(stepped.steps[before], counts) + 1 + within
    second = _second_passes(stepped, group, steps)
    return Absent(
        step_groups(stepped, group[~second], steps=steps[~second]),
        step_groups(stepped, group[second], steps=steps[second]),
    )


def _second_passes(
    stepped: Stepped, group: Int64[np.ndarray, " step"], steps: Int64[np.ndarray, " step"]
) -> Bool[np.ndarray, " step"]:
    stamp_type = stepped.axis.stamp_type
    if not stamp_type.naive:
        return np.zeros(len(steps), dtype=bool)
    moments = stepped.axis.moments_at(group, steps=steps)
    first_passes = to_instants(moments.dt.replace_time_zone(None), zone=stamp_type.zone)
    return (moments != first_passes).to_numpy()


def step_groups(
    stepped: Stepped, group: Int64[np.ndarray, " step"], *, steps: Int64[np.ndarray, " step"]
) -> list[Group]:
    """Group steps, in ascending order, by the series (its place among those that have rows) that they are of."""
    owners, first, counts = np.unique(group, return_index=True, return_counts=True)
    stamps = stepped.axis.stamps_at(owners, steps=steps[first])
    numbers = stepped.rows.series[stepped.rows.starts[owners]]
    texts = map(stamp_text, stamps)
    return [Group(*known) for known in zip(numbers.tolist(), texts, counts.tolist(), strict=True)]
