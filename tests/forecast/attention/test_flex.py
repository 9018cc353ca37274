"""FlexAttention computes the one written definition, or says why it cannot."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn import functional

from forecast.attention.biases import SlopeBias
from forecast.attention.choice import PREFERENCE, choose
from forecast.attention.kernels import flex
from forecast.attention.kernels.flex import BLOCK, FlexKernel, block_mask, count_seen
from forecast.attention.patterns import Causal, Full, Linear, Local, Pattern, Sparse
from forecast.errors import BackendUnavailable
from tests.forecast.attention.test_kernels import PATTERNS, make_call

REPOSITORY = Path(__file__).parents[3]
CPU = torch.device("cpu")


@pytest.mark.slow
def test_compiled_it_equals_the_reference_and_no_length_is_compiled_in() -> None:
    script = Path(__file__).with_name("flex_run.py")
    answered = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    answer = json.loads(answered.stdout.splitlines()[-1])
    assert max(answer["differences"].values()) < 2e-6
    assert answer["graphs"] == 3, "two lengths of one kind are compiled once"
    assert answer["mistakes"] == 0


@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
@pytest.mark.parametrize(("queries", "keys"), [(5, 5), (1, 300), (300, 300), (150, 400), (300, 200)])
def test_seen_pairs_are_counted_by_blocks(pattern: Pattern, queries: int, keys: int) -> None:
    call = make_call(pattern, queries=queries, keys=keys)
    seen = functional.pad(call.visible().long(), (0, -keys % BLOCK, 0, -queries % BLOCK))
    expected = seen.unflatten(0, (-1, BLOCK)).unflatten(2, (-1, BLOCK)).sum(dim=(1, 3))
    assert torch.equal(count_seen(pattern, queries, keys, CPU), expected)


def test_blocks_that_nobody_looks_at_are_left_out() -> None:
    mask = block_mask(Local(left=10, right=10), 1280, 1280, CPU)
    assert mask.kv_num_blocks[0, 0].tolist() == [2, *[3] * 8, 2]
    assert mask.kv_indices[0, 0, 4, :3].tolist() == [3, 4, 5]
    assert mask.full_kv_num_blocks.sum() == 0


def test_blocks_that_are_seen_whole_are_told_apart() -> None:
    mask = block_mask(Causal(), 512, 512, CPU)
    assert mask.kv_num_blocks[0, 0].tolist() == [1, 1, 1, 1]
    assert mask.full_kv_num_blocks[0, 0].tolist() == [0, 1, 2, 3]
    assert mask.full_kv_indices[0, 0, 3, :3].tolist() == [0, 1, 2]


def test_which_blocks_are_seen_is_found_once_for_a_pattern_and_length() -> None:
    first, again = (block_mask(Sparse(left=3, right=3), 200, 200, CPU) for _ in range(2))
    assert first is again
    assert block_mask(Sparse(left=3, right=3), 200, 201, CPU) is not first


def test_what_is_kept_serves_training_also_where_it_was_found_in_inference() -> None:
    block_mask.cache_clear()
    with torch.inference_mode():
        mask = block_mask(Causal(), 40, 40, CPU)
    assert not mask.kv_indices.is_inference()


def test_it_refuses_what_it_cannot_compute_and_says_why(monkeypatch) -> None:
    kernel, call = FlexKernel(), make_call(Full())
    trained = make_call(Full(), bias=SlopeBias(torch.ones(3).requires_grad_()))
    with torch.no_grad():
        assert kernel.refusal(call) is None
        assert kernel.refusal(trained) is None
    assert "no backward pass on a CPU" in kernel.refusal(trained)
    assert "drops no weights" in kernel.refusal(replace(call, dropout=0.1))
    assert "float64" in kernel.refusal(make_call(Full(), dtype=torch.float64))
    assert "no softmax" in kernel.refusal(make_call(Linear()))
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert "'no-such-compiler'" in kernel.refusal(call)


def test_training_with_it_on_a_cpu_is_an_error_that_says_what_to_do() -> None:
    call = make_call(Full())
    call.query.requires_grad_()
    with pytest.raises(BackendUnavailable, match=r"'flex'.*no backward pass on a CPU.*use backend 'sdpa' to train"):
        choose(call, backend="flex")


def test_narrow_heads_and_a_missing_triton_are_refused_on_cuda(monkeypatch) -> None:
    assert "heads of 16 or wider on CUDA and these have 8" in flex._refusal_on_cuda(make_call(Full()))
    wide = replace(make_call(Full()), key=torch.zeros(1, 1, 2, 16), value=torch.zeros(1, 1, 2, 16))
    for found, said in ((None, "pip install triton"), ("here", None)):
        monkeypatch.setattr(flex, "find_spec", lambda _name, found=found: found)
        reason = flex._refusal_on_cuda(wide)
        assert reason is None if said is None else said in reason


def test_auto_never_takes_it() -> None:
    assert all("flex" not in names for names in PREFERENCE.values())
