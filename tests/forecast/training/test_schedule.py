"""The learning rate warms up and falls along a cosine, with the right value at both ends."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast.config import build_config
from forecast.errors import ConfigError
from forecast.training.config import OptimizerConfig
from forecast.training.schedule import warmup_cosine


def factors(num_steps: int, warmup_share: float = 0.1) -> list[float]:
    """The factor at every step of a run, and the one after its last."""
    return [warmup_cosine(step, num_steps=num_steps, warmup_share=warmup_share) for step in range(num_steps + 1)]


def test_a_tenth_of_the_run_warms_up_from_one_part_to_the_whole():
    assert factors(100)[:10] == pytest.approx([0.1 * step for step in range(1, 11)])


def test_the_rest_is_half_a_cosine_to_zero():
    falling = factors(100)[10:]
    assert falling[0] == 1
    assert falling[45] == pytest.approx(0.5)
    assert falling[30] == pytest.approx(0.5 * (1 + math.cos(math.pi / 3)))
    assert falling[-1] == pytest.approx(0, abs=1e-12)


@given(num_steps=st.integers(1, 300), warmup_share=st.floats(0, 1))
def test_it_rises_to_one_and_then_never_rises_again(num_steps, warmup_share):
    given = factors(num_steps, warmup_share)
    top = given.index(1.0)
    assert all(low < high for low, high in pairwise(given[: top + 1]))
    assert all(high >= low >= 0 for high, low in pairwise(given[top:]))
    assert all(0 < factor <= 1 for factor in given[:num_steps])


def test_without_warm_up_the_first_step_is_whole():
    assert factors(10, 0.0)[0] == 1
    assert factors(10, 0.0)[-1] == pytest.approx(0, abs=1e-12)


def test_a_run_of_one_step_takes_it_whole():
    assert factors(1)[0] == 1


def test_after_the_end_nothing_is_learnt():
    assert warmup_cosine(500, num_steps=100, warmup_share=0.1) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("warmup_share", [-0.1, 1.1])
def test_a_share_outside_the_run_is_refused(warmup_share):
    with pytest.raises(ConfigError, match="warmup_share: Input should be"):
        build_config(OptimizerConfig, {"warmup_share": warmup_share})
