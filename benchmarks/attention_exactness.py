"""How far each attention backend lies from the written definition, and the modules from torch's own, in fp32."""

from collections.abc import Iterator

import torch
from torch import nn

from benchmarks.shown import Shown, at_most, holds
from forecast.attention.call import AttentionCall
from forecast.attention.choice import KERNELS, Backend
from forecast.attention.kernels.reference import ReferenceKernel
from forecast.attention.multihead import MultiHeadAttention
from forecast.attention.patterns import Causal, Full, Linear, Pattern

BATCH, HEADS, QUERIES, WIDTH = 4, 4, 200, 64
AIM = 1e-6


def show_attention() -> Iterator[Shown]:
    """Show every backend against the reference, and the multi-head module against torch's with the same weights."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for name, kernel in KERNELS.items():
        refusal = kernel.refusal(_call(device, pattern=_patterns(name)[0], hidden=False))
        if refusal is not None:
            yield holds(f"attention {name}", refusal, "served on CUDA alone", met=None)
        else:
            yield at_most(f"attention {name} against reference", _largest_error(name, device), AIM, digits=2)
    backends: tuple[Backend, ...] = ("reference", "sdpa")
    for backend in backends:
        error = _against_torch(backend)
        yield at_most(f"multi-head {backend} against torch.nn.MultiheadAttention", error, AIM, digits=2)


def _patterns(name: str) -> tuple[Pattern, ...]:
    return (Linear(), Linear(causal=True)) if name == "linear" else (Full(), Causal())


def _call(device: str, *, pattern: Pattern, hidden: bool) -> AttentionCall:
    generator = torch.Generator().manual_seed(1)
    tensors = [torch.randn(BATCH, HEADS, QUERIES, WIDTH // HEADS, generator=generator).to(device) for _ in range(3)]
    observed = torch.rand(BATCH, QUERIES, generator=generator).to(device) > 0.3 if hidden else None
    return AttentionCall(*tensors, pattern=pattern, key_observed=observed)


def _largest_error(name: str, device: str) -> float:
    calls = [_call(device, pattern=pattern, hidden=hidden) for hidden in (False, True) for pattern in _patterns(name)]
    errors = [(KERNELS[name].run(call) - ReferenceKernel().run(call)).abs().max() for call in calls]
    return float(max(errors))


def _against_torch(backend: Backend) -> float:
    torch.manual_seed(2)
    theirs = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).eval()
    ours = MultiHeadAttention(WIDTH, num_heads=HEADS, pattern=Causal(), backend=backend).eval()
    weights = theirs.in_proj_weight.chunk(3)
    biases = theirs.in_proj_bias.chunk(3)
    with torch.no_grad():
        for mine, weight, bias in zip((ours.queries, ours.keys, ours.values), weights, biases, strict=True):
            mine.weight.copy_(weight)
            mine.bias.copy_(bias)
        ours.output.load_state_dict(theirs.out_proj.state_dict())
        tokens = torch.randn(BATCH, QUERIES, WIDTH)
        hidden = torch.ones(QUERIES, QUERIES, dtype=torch.bool).triu(1)
        expected, _ = theirs(tokens, tokens, tokens, attn_mask=hidden, need_weights=False)
        return float((ours(tokens, ours.project(tokens)) - expected).abs().max())
