"""Probability: quantiles at any levels, asked for in either form, under names of their own."""

from decimal import Decimal

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.contract.faces import Room, everywhere
from tests.contract.inputs import FEW, MORE, SEEDS, frame_of, hourly
from tests.contract.table import covers

LEVELS = st.lists(st.floats(1e-6, 1 - 1e-6), min_size=1, max_size=9, unique=True)
PERCENTS = st.lists(st.integers(1, 999).map(lambda tenths: tenths / 10), min_size=1, max_size=4, unique=True)


@covers("probability-monotone")
@MORE
@given(hourly(1, 40), LEVELS)
def test_quantiles_never_cross_at_any_levels(room: Room, frame: pl.DataFrame, levels: list[float]) -> None:
    answer = everywhere(room, frame, quantiles=levels, horizon=8)

    assert len(answer.frame.columns) == 3 + len(levels)
    assert (np.diff(answer.numbers[:, 1:], axis=1) >= 0).all()


@covers("probability-level")
@MORE
@given(SEEDS, PERCENTS)
def test_intervals_and_quantiles_are_one_request(room: Room, seed: int, percents: list[float]) -> None:
    frame = frame_of({"a": 30}, seed=seed)
    tails = [(1 - Decimal(str(percent)) / 100) / 2 for percent in percents]
    quantiles = sorted({float(level) for tail in tails for level in (tail, 1 - tail)})

    by_level = everywhere(room, frame, level=percents)
    by_quantiles = everywhere(room, frame, quantiles=quantiles)

    assert by_level.frame.equals(by_quantiles.frame)


@covers("probability-names")
@FEW
@given(st.sets(st.sampled_from([0.5, 0.99, 0.995, 0.999, 0.9995, 0.001, 1e-05, 0.00001234, 1 - 1e-9]), min_size=1))
def test_names_are_the_decimals_as_given(room: Room, levels: set[float]) -> None:
    answer = everywhere(room, frame_of({"a": 30}), quantiles=sorted(levels))

    names = answer.frame.columns[3:]
    assert [float(name) for name in names] == sorted(levels)
    assert not any("e" in name.lower() for name in names)
