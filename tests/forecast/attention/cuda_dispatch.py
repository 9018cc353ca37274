"""Print what would serve which call on an H200, asked with tensors that have a CUDA device and no memory.

For each case: the kernel that `auto` takes, and what xformers runs of its own for inference, for the forward pass of
training and for its backward pass; "none" where it refuses. A script of its own, because xformers decides at its import
what torch is built with. It patches what a CPU build of torch says of itself, never the dispatcher.
"""

import json
import sys
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

torch.version.cuda = "13.0"
torch.cuda.get_device_capability = lambda device=None: (9, 0)
torch.backends.cuda.is_flash_attention_available = lambda: True
sys.path.insert(0, str(Path(__file__).parents[3]))

from forecast.attention.biases import BucketBias, SlopeBias  # noqa: E402
from forecast.attention.call import AttentionCall  # noqa: E402
from forecast.attention.choice import KERNELS, choose  # noqa: E402
from forecast.attention.kernels.dispatch import fmha, operators  # noqa: E402
from forecast.attention.kernels.xformers import blank_bias_of  # noqa: E402
from forecast.attention.patterns import Causal, Full, Linear, Local, Sparse  # noqa: E402

HEADS, KEYS = 4, 64
DTYPES = {"bf16": torch.bfloat16, "fp32": torch.float32}
CASES = {
    "full": {"pattern": Full()},
    "causal": {"pattern": Causal()},
    "causal, 3 new": {"pattern": Causal(), "queries": 3},
    "causal, 3 before the first key": {"pattern": Causal(), "queries": KEYS + 3},
    "local": {"pattern": Local(left=8, right=8)},
    "causal local": {"pattern": Local(left=8, right=0)},
    "causal local, 3 new": {"pattern": Local(left=8, right=0), "queries": 3},
    "sparse": {"pattern": Sparse(left=8, right=8, block_length=16)},
    "linear": {"pattern": Linear()},
    "full, keys hidden": {"pattern": Full(), "hidden": True},
    "local, keys hidden": {"pattern": Local(left=8, right=8), "hidden": True},
    "full, slopes": {"pattern": Full(), "bias": "slopes"},
    "causal, slopes": {"pattern": Causal(), "bias": "slopes"},
    "full, learned buckets": {"pattern": Full(), "bias": "buckets"},
    "full, learned buckets, 61 keys": {"pattern": Full(), "bias": "buckets", "queries": 61, "keys": 61},
    "full, heads of 4": {"pattern": Full(), "head_dim": 4},
    "full, heads of 12": {"pattern": Full(), "head_dim": 12},
    "full, heads of 20": {"pattern": Full(), "head_dim": 20},
    "full, heads of 512": {"pattern": Full(), "head_dim": 512},
    "full, heads of 40, values of 32": {"pattern": Full(), "head_dim": 40, "value_dim": 32},
    "full, dropout": {"pattern": Full(), "dropout": 0.1},
}


def make_call(dtype, *, trains, pattern, queries=KEYS, keys=KEYS, head_dim=64, value_dim=None, **rest) -> AttentionCall:
    """Make a call with the tensors of one case."""
    sizes = ((queries, head_dim), (keys, head_dim), (keys, value_dim or head_dim))
    tensors = [
        torch.empty(2, HEADS, length, width, dtype=dtype, device="cuda", requires_grad=trains)
        for length, width in sizes
    ]
    observed = torch.ones(2, keys, dtype=torch.bool, device="cuda") if rest.get("hidden") else None
    bias = None
    if rest.get("bias") == "slopes":
        bias = SlopeBias(torch.empty(HEADS, device="cuda"))
    elif rest.get("bias") == "buckets":
        bias = BucketBias(torch.empty(HEADS, 8, device="cuda", requires_grad=trains), 16)
    return AttentionCall(*tensors, pattern=pattern, key_observed=observed, bias=bias, dropout=rest.get("dropout", 0.0))


def answer(dtype, case) -> list[str]:
    """Give what serves one case."""
    with FakeTensorMode():
        infers, trains = (make_call(dtype, trains=trains, **case) for trains in (False, True))
        asked = [named(call, place) for call, place in ((infers, 0), (trains, 0), (trains, 1))]
        return [choose(trains).name, *asked]


def named(call, place: int) -> str:
    """Give the operator of the forward (0) or backward pass (1), without its version."""
    if KERNELS["xformers"].refusal(call) is not None:
        return "none"
    return str(operators(call, blank_bias_of(call))[place]).split("@")[0].removesuffix("-pt")


fmha().common._built_with_cuda = True
for candidate in (*fmha().ALL_FW_OPS, *fmha().ALL_BW_OPS):
    # Operators compare classes: a fake tensor is a tensor to those that take one.
    if torch.Tensor in candidate.SUPPORTED_ATTN_BIAS_TYPES:
        candidate.SUPPORTED_ATTN_BIAS_TYPES = (*candidate.SUPPORTED_ATTN_BIAS_TYPES, FakeTensor)
table = {f"{case}, {name}": answer(dtype, CASES[case]) for case in CASES for name, dtype in DTYPES.items()}
print(json.dumps(table))  # noqa: T201 - its answer
