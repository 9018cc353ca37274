"""What xformers is asked for is what the definition says, and what serves it on a GPU is written down here."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from forecast.attention.biases import BucketBias, SlopeBias
from forecast.attention.call import AttentionCall
from forecast.attention.kernels import dispatch
from forecast.attention.kernels.xformers import XformersKernel, bias_of, blank_bias_of, is_written
from forecast.attention.patterns import Causal, Full, Local, Sparse
from tests.forecast.attention.test_kernels import BIASES, PATTERNS, SHAPES, make_call

REPOSITORY = Path(__file__).parents[3]
SAID_BY_A_CLASS = [Full(), Causal(), Local(left=2, right=1), Local(left=2, right=0), Local(left=0, right=9)]

CUTLASS = ["cutlassF", "cutlassF", "cutlassB"]
FLASH = ["fa2F", "fa2F", "fa2B"]
NONE = ["none", "none", "none"]
DISPATCH = {
    "full": (["xformers", *FLASH], ["xformers", *CUTLASS]),
    "causal": (["xformers", *FLASH], ["xformers", *CUTLASS]),
    "causal, 3 new": (["xformers", *FLASH], ["xformers", *CUTLASS]),
    "causal, 3 before the first key": (["xformers", *CUTLASS], ["xformers", *CUTLASS]),
    "local": (["xformers", *FLASH], ["sdpa", *CUTLASS]),
    "causal local": (["xformers", *FLASH], ["sdpa", *CUTLASS]),
    "causal local, 3 new": (["xformers", *FLASH], ["sdpa", *CUTLASS]),
    "sparse": (["sdpa", *CUTLASS], ["sdpa", *CUTLASS]),
    "linear": (["linear", *NONE], ["linear", *NONE]),
    "full, keys hidden": (["xformers", *CUTLASS], ["xformers", *CUTLASS]),
    "local, keys hidden": (["sdpa", *CUTLASS], ["sdpa", *CUTLASS]),
    "full, slopes": (["xformers", *CUTLASS], ["xformers", *CUTLASS]),
    "causal, slopes": (["sdpa", *CUTLASS], ["sdpa", *CUTLASS]),
    "full, learned buckets": (["xformers", *CUTLASS], ["xformers", *CUTLASS]),
    "full, learned buckets, 61 keys": (["xformers", *CUTLASS], ["xformers", *CUTLASS]),
    "full, heads of 4": (["sdpa", *NONE], ["xformers", *CUTLASS]),
    "full, heads of 12": (["sdpa", *NONE], ["xformers", *CUTLASS]),
    "full, heads of 20": (["sdpa", *NONE], ["xformers", *CUTLASS]),
    "full, heads of 512": (["xformers", *CUTLASS], ["xformers", *CUTLASS]),
    "full, heads of 40, values of 32": (["xformers", *CUTLASS], ["xformers", *CUTLASS]),
    "full, dropout": (["xformers", *FLASH], ["xformers", *CUTLASS]),
}
"""In bf16 and fp32: what `auto` takes; what xformers runs for inference, for training forwards, and backwards."""


def test_dispatch_on_a_gpu_is_the_one_written_down() -> None:
    script = Path(__file__).with_name("cuda_dispatch.py")
    answered = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    table = json.loads(answered.stdout.splitlines()[-1])
    expected = {}
    for case, (bf16, fp32) in DISPATCH.items():
        expected |= {f"{case}, bf16": bf16, f"{case}, fp32": fp32}
    assert table == expected


@pytest.mark.parametrize("pattern", SAID_BY_A_CLASS, ids=repr)
@pytest.mark.parametrize(("queries", "keys"), SHAPES)
def test_a_class_of_xformers_hides_what_the_definition_hides(pattern, queries, keys) -> None:
    call = make_call(pattern, queries=queries, keys=keys, dtype=torch.bfloat16)
    assert not is_written(call)
    bias, hidden = bias_of(call), ~call.mask()[0, 0]
    if bias is None:
        assert not hidden.any()
    else:
        assert torch.equal(bias.materialize((queries, keys)).isinf(), hidden)


@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
@pytest.mark.parametrize(("queries", "keys"), [*SHAPES, (8, 3)])
@pytest.mark.parametrize("bias", ["slopes", "buckets"])
def test_a_written_bias_is_that_of_the_definition_in_aligned_rows(pattern, queries, keys, bias) -> None:
    call = make_call(pattern, queries=queries, keys=keys, hidden=True, bias=BIASES[bias])
    written, mask = bias_of(call), call.mask()
    sees_any = mask.any(dim=-1, keepdim=True)
    seen = (mask | ~sees_any).expand_as(written)
    assert torch.equal(written.isinf(), ~seen)
    torch.testing.assert_close(written[seen], call.written_bias().expand_as(written)[seen])
    assert all(stride % 8 == 0 for stride in written.stride()[:-1])


def test_a_window_in_fp32_is_written_because_no_class_of_it_serves() -> None:
    call = make_call(Local(left=1, right=1))
    assert torch.equal(bias_of(call).isinf(), ~call.mask().expand(2, 3, -1, -1))


@pytest.mark.parametrize("trained", [False, True])
def test_an_operator_is_chosen_by_a_bias_like_the_written_one_without_its_memory(trained) -> None:
    bias = BucketBias(torch.randn(3, 8).requires_grad_(trained), 16)
    call = make_call(Full(), queries=5, keys=13, bias=bias)
    written, blank = bias_of(call), blank_bias_of(call)
    for trait in ("shape", "dtype", "requires_grad"):
        assert getattr(blank, trait) == getattr(written, trait)
    assert blank.stride() == written.stride()
    assert blank.device.type == "meta"


def test_gradients_reach_a_learned_bias_through_what_is_written() -> None:
    bias = SlopeBias(torch.tensor([0.5, 0.1, 0.0]).requires_grad_())
    call = make_call(Causal(), bias=bias)
    bias_of(call).masked_fill(~call.mask(), 0.0).sum().backward()
    seen = call.mask().expand(2, 1, -1, -1)
    distance = (torch.arange(5)[:, None] - torch.arange(5)[None]).abs()
    torch.testing.assert_close(bias.slopes.grad, (-distance * seen).sum().float().expand(3))


def test_the_dispatcher_is_asked_once_for_calls_alike(monkeypatch) -> None:
    asked = []
    monkeypatch.setattr(dispatch, "_answers", {})
    monkeypatch.setattr(dispatch, "operators", lambda call, _bias: asked.append(call.num_keys))
    for keys in (5, 5, 7, 5, 7):
        call = make_call(Sparse(left=1, right=1), queries=5, keys=keys)
        assert dispatch.refused(call, blank_bias_of(call)) is None
    assert asked == [5, 7]


@pytest.mark.parametrize("change", ["dtype", "gradient", "bias", "trained bias", "dropout", "hidden", "stride"])
def test_calls_that_differ_are_asked_for_apart(change) -> None:
    slopes = SlopeBias(torch.ones(3))
    plain = make_call(Full(), bias=slopes if change == "trained bias" else None)
    other = {
        "dtype": lambda: make_call(Full(), dtype=torch.bfloat16),
        "gradient": lambda: with_gradient(make_call(Full())),
        "bias": lambda: make_call(Full(), bias=slopes),
        "trained bias": lambda: make_call(Full(), bias=SlopeBias(torch.ones(3).requires_grad_())),
        "dropout": lambda: AttentionCall(plain.query, plain.key, plain.value, Full(), dropout=0.1),
        "hidden": lambda: make_call(Full(), hidden=True),
        "stride": lambda: AttentionCall(plain.query.mT.contiguous().mT, plain.key, plain.value, Full()),
    }[change]()
    assert dispatch._kind(plain, blank_bias_of(plain)) != dispatch._kind(other, blank_bias_of(other))
    assert dispatch._kind(plain, blank_bias_of(plain)) == dispatch._kind(plain, blank_bias_of(plain))


def with_gradient(call: AttentionCall) -> AttentionCall:
    call.query.requires_grad_()
    return call


def test_auto_leaves_to_another_kernel_what_need_not_be_written() -> None:
    kernel = XformersKernel()
    spared = [
        make_call(Sparse(left=1, right=1)),
        make_call(Local(left=1, right=1)),
        make_call(Causal(), bias=BIASES["slopes"]),
    ]
    kept = [make_call(Full(), bias=BIASES["slopes"]), make_call(Causal(), hidden=True), make_call(Causal())]
    kept.append(make_call(Local(left=1, right=1), dtype=torch.bfloat16))
    assert all(kernel.reluctance(call) == "would write a number for every query and key" for call in spared)
    assert all(kernel.reluctance(call) is None for call in kept)
