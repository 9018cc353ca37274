"""Joined panels hold what each of them held, series by series."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.errors import DataError
from forecast.frames.column_type import ColumnType
from forecast.frames.concat import concat_panels
from forecast.frames.digest import panel_digest
from tests.forecast.frames.panels import BUILDS, Build, panel_from, spelt

SEEDS = st.lists(st.integers(0, 10**6), min_size=1, max_size=4)


@given(build=BUILDS, seeds=SEEDS)
def test_every_series_is_told_what_it_was_told_alone(build, seeds):
    parts = [panel_from(build, seed=seed, prefix=f"{number}-") for number, seed in enumerate(seeds)]
    joined = concat_panels(parts)
    assert joined.ids == tuple(name for part in parts for name in part.ids)
    assert joined.lengths.tolist() == [length for part in parts for length in part.lengths.tolist()]
    np.testing.assert_array_equal(joined.values, np.concatenate([part.values for part in parts]))
    np.testing.assert_array_equal(joined.observed, np.concatenate([part.observed for part in parts]))
    if joined.covariates is not None:
        assert spelt(joined.covariates) == [told for part in parts for told in spelt(part.covariates)]
    if joined.channels is not None:
        assert joined.channels.entities == tuple(entity for part in parts for entity in part.channels.entities)


@given(build=BUILDS, seed=st.integers(0, 10**6))
def test_one_panel_joined_to_nothing_is_itself(build, seed):
    panel = panel_from(build, seed=seed)
    assert panel_digest(concat_panels([panel])) == panel_digest(panel)


def test_stamps_go_on_from_each_series_own_start():
    parts = [panel_from(Build(), seed=number, prefix=f"{number}-", num_entities=3) for number in range(2)]
    joined = concat_panels(parts)
    for number, (part, place) in enumerate((part, place) for part in parts for place in range(3)):
        expected = part.axis.stamps(place, first=0, count=4)
        assert joined.axis.stamps(number, first=0, count=4).to_list() == expected.to_list()


def test_missing_weights_are_one():
    parts = [panel_from(Build(weights=has), seed=1, prefix=str(has), num_entities=4) for has in (False, True)]
    joined = concat_panels(parts)
    assert joined.weights.tolist() == [*[1.0] * len(parts[0].values), *parts[1].weights.tolist()]


def test_levels_that_differ_are_united_and_sorted():
    parts = [panel_from(Build(), seed=seed, prefix=f"{seed}-") for seed in (3, 4)]
    for place in (2, -1):
        levels = [all_levels(part)[place] for part in parts]
        assert levels[0] != levels[1]
        assert all_levels(concat_panels(parts))[place] == tuple(sorted({*levels[0], *levels[1]}))


def all_levels(panel) -> list[tuple[str, ...]]:
    schema = panel.covariates.schema
    return [covariate.levels for covariate in (*schema.steps, *schema.static)]


def test_a_type_of_pandas_is_kept_where_all_share_it():
    parts = [panel_from(Build(), seed=seed, prefix=f"{seed}-") for seed in (1, 2)]
    typed = [replace(part, id_type=ColumnType(pl.String(), pandas="object")) for part in parts]
    assert concat_panels(typed).id_type == ColumnType(pl.String(), pandas="object")
    assert concat_panels([typed[0], parts[1]]).id_type == ColumnType(pl.String())


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (Build(stamps="integers"), "frequency: the first has h, number 2 has 1"),
        (Build(roles="none"), "covariates"),
        (Build(roles="static alone"), "covariates"),
        (Build(num_channels=2), "channels"),
        (Build(id_type=pl.Categorical()), "type of ids"),
    ],
)
def test_panels_that_differ_are_refused_and_the_difference_is_said(build, said):
    with pytest.raises(DataError, match=said):
        concat_panels([panel_from(Build(), seed=1, prefix="a"), panel_from(build, seed=1, prefix="b")])


def test_a_series_in_two_panels_is_refused_by_name():
    with pytest.raises(DataError, match="series '0' stands in two") as refused:
        concat_panels([panel_from(Build(), seed=1, num_entities=2)] * 2)
    assert refused.value.series == "0"


def test_no_panel_is_refused():
    with pytest.raises(DataError, match="no panel"):
        concat_panels([])
