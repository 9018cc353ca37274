"""Splits and folds cut along time, and the scale of the training part knows nothing of what comes after."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.config import build_config, config, to_plain
from forecast.errors import ConfigError, SeriesTooShort
from pipelines.split import FractionSplit, Split, StepsSplit, rolling_folds, train_units

EXAMPLES = {
    "fraction": {"kind": "fraction", "train": 0.6, "validation": 0.2},
    "steps": {"kind": "steps", "train": 30, "validation": 10, "test": 12},
}
MEMBERS = get_args(get_args(Split)[0])
LENGTHS = st.lists(st.integers(1, 90), min_size=1, max_size=6)


@config
class Run:
    split: Split


def build(plain) -> Split:
    return build_config(Run, {"split": plain}).split


def test_every_split_of_the_union_has_an_example_here():
    assert {member.kind for member in MEMBERS} == set(EXAMPLES)


@pytest.mark.parametrize("plain", EXAMPLES.values(), ids=EXAMPLES)
def test_a_split_survives_its_plain_form(plain):
    assert to_plain(build(plain)) == plain


@pytest.mark.parametrize("plain", EXAMPLES.values(), ids=EXAMPLES)
@given(lengths=LENGTHS, horizon=st.integers(1, 12))
def test_parts_follow_each_other_and_held_out_parts_hold_a_horizon(make_panel, plain, lengths, horizon):
    panel = make_panel(*[np.ones(length) for length in lengths])
    if plain["kind"] == "steps" and horizon > plain["validation"]:
        return
    parts = build(plain).cut(panel, horizon=horizon)
    assert (parts.train_end >= 1).all()
    assert (parts.test_end <= panel.lengths).all()
    held_out = ~parts.train_only
    assert (parts.validation_end - parts.train_end)[held_out].min(initial=horizon) >= horizon
    assert (parts.test_end - parts.validation_end)[held_out].min(initial=horizon) >= horizon
    np.testing.assert_array_equal(parts.train_end[~held_out], panel.lengths[~held_out])


@pytest.mark.parametrize(
    ("steps", "train", "test"),
    [(7588, 5311, 1517), (966, 676, 193), (52696, 36887, 10539)],
    ids=["exchange", "illness", "weather"],
)
def test_fractions_are_those_of_the_public_benchmarks(make_panel, steps, train, test):
    parts = FractionSplit().cut(make_panel(np.ones(steps)))
    assert (parts.train_end[0], parts.validation_end[0], parts.test_end[0]) == (train, steps - test, steps)


def test_fractions_are_taken_as_written_and_not_as_binary_numbers(make_panel):
    panel = make_panel(*[np.ones(length) for length in range(10, 5000, 10)])
    parts = FractionSplit(train=0.7, validation=0.1).cut(panel)
    np.testing.assert_array_equal(parts.train_end * 10, panel.lengths * 7)
    np.testing.assert_array_equal(parts.validation_end * 10, panel.lengths * 8)


def test_without_validation_the_odd_step_trains(make_panel):
    parts = FractionSplit(train=0.7, validation=0).cut(make_panel(np.ones(11)))
    assert (parts.train_end[0], parts.validation_end[0], parts.test_end[0]) == (8, 8, 11)


def test_all_steps_may_train(make_panel):
    parts = FractionSplit(train=1, validation=0).cut(make_panel(np.ones(11), np.ones(3)), horizon=4)
    assert parts.train_only.all()
    np.testing.assert_array_equal(parts.train_end, [11, 3])


def test_fractions_beyond_the_whole_are_refused():
    with pytest.raises(ConfigError, match="must not exceed 1"):
        build({"kind": "fraction", "train": 0.95, "validation": 0.1})


def test_steps_after_the_three_parts_are_used_by_nothing(make_panel):
    parts = StepsSplit(train=8, validation=2, test=3).cut(make_panel(np.ones(20), np.ones(13)))
    np.testing.assert_array_equal(parts.train_end, [8, 8])
    np.testing.assert_array_equal(parts.validation_end, [10, 10])
    np.testing.assert_array_equal(parts.test_end, [13, 13])


def test_a_series_too_short_for_three_parts_trains_with_all_its_steps(make_panel):
    panel = make_panel(np.ones(13), np.ones(12))
    parts = StepsSplit(train=8, validation=2, test=3).cut(panel)
    np.testing.assert_array_equal(parts.train_only, [False, True])
    assert parts.train_end[1] == 12


def test_a_held_out_part_in_which_no_forecast_fits_is_refused(make_panel):
    with pytest.raises(ConfigError, match="validation has 2 steps") as refused:
        StepsSplit(train=8, validation=2, test=9).cut(make_panel(np.ones(40)), horizon=4)
    assert refused.value.field == "split.validation"


@given(
    lengths=LENGTHS,
    num_folds=st.integers(1, 4),
    test_steps=st.integers(1, 9),
    validation_steps=st.integers(0, 6),
    stride=st.none() | st.integers(1, 9),
)
def test_no_fold_trains_on_what_it_tests(make_panel, lengths, num_folds, test_steps, validation_steps, stride):
    panel = make_panel(*[np.ones(length) for length in [*lengths, 90]])
    asked = {"num_folds": num_folds, "test_steps": test_steps, "validation_steps": validation_steps}
    folds = rolling_folds(panel, **asked, stride=stride)
    assert len(folds) == num_folds
    for number, fold in enumerate(reversed(folds)):
        takes_part = fold.train_end > 0
        end = panel.lengths - number * (stride or test_steps)
        np.testing.assert_array_equal(fold.test_end, np.where(takes_part, end, 0))
        np.testing.assert_array_equal(fold.test_end - fold.validation_end, np.where(takes_part, test_steps, 0))
        np.testing.assert_array_equal(fold.validation_end - fold.train_end, np.where(takes_part, validation_steps, 0))
        np.testing.assert_array_equal(takes_part, end - test_steps - validation_steps >= 1)


def test_test_parts_of_neighbouring_folds_lie_side_by_side(make_panel):
    folds = rolling_folds(make_panel(np.ones(50)), num_folds=3, test_steps=7)
    bounds = [(int(fold.validation_end[0]), int(fold.test_end[0])) for fold in folds]
    assert bounds == [(29, 36), (36, 43), (43, 50)]


def test_folds_that_no_series_can_hold_are_refused_with_the_length_needed(make_panel):
    with pytest.raises(SeriesTooShort, match="need 31 steps, but the longest of 2 series has 30"):
        rolling_folds(make_panel(np.ones(30), np.ones(4)), num_folds=3, test_steps=10)


def test_units_are_the_population_spread_of_the_observed_training_steps(make_panel, seeds):
    draw = np.random.default_rng(seeds)
    series = [draw.normal(1e6, 3.0, size=length) for length in (40, 200, 7)]
    series[1][::5] = np.nan
    ends = np.array([30, 200, 7])
    expected = [np.nanstd(values[:end]) for values, end in zip(series, ends, strict=True)]
    np.testing.assert_allclose(train_units(make_panel(*series), ends), expected, rtol=1e-9)


@pytest.mark.parametrize("value", [0.0, 0.1, -7e20, 1e-300, 1.1e300])
def test_a_constant_has_the_unit_one(make_panel, value):
    assert train_units(make_panel(np.full(100_001, value)), np.array([100_001])) == 1.0


def test_a_constant_but_for_rounding_has_the_unit_one(make_panel):
    values = np.tile([0.3, 0.1 + 0.2], 50)
    assert values[0] != values[1]
    assert train_units(make_panel(values), np.array([100])) == 1.0


@pytest.mark.parametrize("scale", [1e-200, 1e20, 1e200])
def test_units_of_very_large_and_very_small_values_are_finite(make_panel, scale):
    values = np.array([1.0, 2.0, 3.0, 4.0])
    np.testing.assert_allclose(train_units(make_panel(values * scale), np.array([4])), values.std() * scale, rtol=1e-12)


def test_a_series_without_an_observed_training_step_has_the_unit_one(make_panel):
    panel = make_panel([np.nan, np.nan, 1.0, 5.0], [1.0, 3.0], [], [2.0, 8.0, np.nan])
    np.testing.assert_allclose(train_units(panel, np.array([2, 2, 0, 3])), [1.0, 1.0, 1.0, 3.0])
    np.testing.assert_array_equal(train_units(panel, np.zeros(4, dtype=np.int64)), np.ones(4))


@given(lengths=LENGTHS, seed=st.integers(0, 2**32 - 1))
def test_units_know_nothing_of_validation_and_test(make_panel, lengths, seed):
    draw = np.random.default_rng(seed)
    series = [draw.normal(size=length) for length in lengths]
    parts = FractionSplit().cut(make_panel(*series))
    corrupted = [
        np.where(np.arange(len(values)) < end, values, 1e9) for values, end in zip(series, parts.train_end, strict=True)
    ]
    np.testing.assert_array_equal(
        train_units(make_panel(*series), parts.train_end), train_units(make_panel(*corrupted), parts.train_end)
    )
