"""Print which kernel would serve which call on an H200, asked with tensors that have a CUDA device and no memory.

A script of its own, because xformers decides at its import what torch is built with. It patches what a CPU build of
torch says of itself, never the dispatcher.
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

from forecast.attention.call import AttentionCall  # noqa: E402
from forecast.attention.choice import choose  # noqa: E402
from forecast.attention.kernels.xformers import fmha, operator_name  # noqa: E402
from forecast.attention.patterns import Causal, Full  # noqa: E402


def operator(pattern, dtype, *, queries=64, head_dim=64, hidden=False) -> str:
    """Give the operator of xformers, or the kernel that `auto` takes instead."""
    with FakeTensorMode():
        query, key, value = (
            torch.empty(2, 4, length, head_dim, dtype=dtype, device="cuda") for length in (queries, 64, 64)
        )
        observed = torch.ones(2, 64, dtype=torch.bool, device="cuda") if hidden else None
        call = AttentionCall(query, key, value, pattern=pattern, key_observed=observed)
        kernel = choose(call)
        return operator_name(call) if kernel.name == "xformers" else kernel.name


fmha().common._built_with_cuda = True
for candidate in fmha().ALL_FW_OPS:  # operators compare classes: a fake tensor is a tensor to those that take one
    if torch.Tensor in candidate.SUPPORTED_ATTN_BIAS_TYPES:
        candidate.SUPPORTED_ATTN_BIAS_TYPES = (*candidate.SUPPORTED_ATTN_BIAS_TYPES, FakeTensor)
print(  # noqa: T201 - its answer
    json.dumps(
        {
            "full bfloat16": operator(Full(), torch.bfloat16),
            "causal bfloat16": operator(Causal(), torch.bfloat16),
            "full float16": operator(Full(), torch.float16),
            "full float32": operator(Full(), torch.float32),
            "causal float32": operator(Causal(), torch.float32),
            "causal float32, 3 new of 64": operator(Causal(), torch.float32, queries=3),
            "causal bfloat16, 3 new of 64": operator(Causal(), torch.bfloat16, queries=3),
            "causal bfloat16, keys hidden": operator(Causal(), torch.bfloat16, hidden=True),
            "full float32, keys hidden": operator(Full(), torch.float32, hidden=True),
            "full bfloat16, head_dim 4": operator(Full(), torch.bfloat16, head_dim=4),
        }
    )
)
