"""Attention over growing lengths: every kernel of this machine beside explicit softmax attention, time and memory.

`python -m benchmarks.attention_lengths` prints the whole table and with `--write` keeps it. It runs unchanged on a CUDA
GPU, in bf16, and then takes the kernels that are served there.
"""

import math
import sys
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from benchmarks.shown import Shown, at_most, holds
from benchmarks.side_by_side import Timing, peak_mb, race, rise, table, write
from forecast.attention.call import AttentionCall
from forecast.attention.choice import KERNELS
from forecast.attention.patterns import Causal, Full, Pattern

CUDA = torch.cuda.is_available()
DEVICE, DTYPE = ("cuda", torch.bfloat16) if CUDA else ("cpu", torch.float32)
HEADS, HEAD_DIM, BATCH = (8, 64, 4) if CUDA else (4, 32, 1)
LENGTHS = (512, 1024, 2048, 4096, 8192, 16_384, 32_768)
LONGEST_EXPLICIT = 8192  # beyond it the matrix of weights takes more memory than is worth having
AIMED_AT = 4096 if CUDA else 8192
PATTERNS: dict[str, Pattern] = {"full": Full(), "causal": Causal()}
EXPLICIT = "explicit"

FORWARD_AIM, TRAINING_AIM, MEMORY_AIM = 5.0, 4.5, 0.01


def show_lengths() -> Iterator[Shown]:
    """Show speed and memory against explicit softmax attention at the length that is aimed at."""
    names = _kernels()
    for what, backward, aim in (("forward", False, FORWARD_AIM), ("forward and backward", True, TRAINING_AIM)):
        for pattern in PATTERNS:
            times = _times(pattern, AIMED_AT, names, backward=backward)
            for name in names:
                yield _faster(f"{name} {pattern} attention, {AIMED_AT:,} tokens, {what}", times, name, aim)
    for what in ("forward", "training"):
        explicit, own = (_peak(name, "full", AIMED_AT, what) for name in (EXPLICIT, names[0]))
        name = f"{names[0]} {what} at {AIMED_AT:,} tokens, {own:.1f} MB of explicit attention's {explicit:,.0f}"
        yield at_most(name, own / explicit, MEMORY_AIM)


def measure() -> list[dict[str, float | str]]:
    """Give times and peaks of every kernel, pattern and length, as rows."""
    rows: list[dict[str, float | str]] = []
    for length in LENGTHS:
        names = [*_kernels(), *([EXPLICIT] if length <= LONGEST_EXPLICIT else [])]
        for pattern in PATTERNS:
            forward = _times(pattern, length, names, backward=False, rounds=3)
            training = _times(pattern, length, names, backward=True, rounds=2)
            rows += [_row(name, pattern, length, forward, training) for name in names]
    return rows


def _row(
    name: str, pattern: str, length: int, forward: dict[str, Timing], training: dict[str, Timing]
) -> dict[str, float | str]:
    row: dict[str, float | str] = {"kernel": name, "pattern": pattern, "tokens": length}
    for what, times in (("forward", forward), ("training", training)):
        row[f"{what} ms"] = 1000 * times[name].wall_s
        if EXPLICIT in times:
            row[f"{what} x"] = times[EXPLICIT].wall_s / times[name].wall_s
        row[f"{what} MB"] = _peak(name, pattern, length, what)
    return row


def _kernels() -> list[str]:
    """Name the kernels that serve a training call here, the reference left out: it is the explicit one."""
    call = _call("full", 512, backward=True)
    return [name for name, kernel in KERNELS.items() if name != "reference" and kernel.refusal(call) is None]


def _times(pattern: str, length: int, names: list[str], *, backward: bool, rounds: int = 5) -> dict[str, Timing]:
    named = dict.fromkeys([*names, EXPLICIT] if length <= LONGEST_EXPLICIT else names)
    return race({name: _step(name, pattern, length, backward=backward) for name in named}, rounds=rounds)


def _faster(what: str, times: dict[str, Timing], name: str, aim: float) -> Shown:
    wall, cpu = (
        getattr(times[EXPLICIT], clock) / max(getattr(times[name], clock), 1e-9) for clock in ("wall_s", "cpu_s")
    )
    return holds(
        what, f"{wall:.1f} times explicit softmax ({cpu:.1f} by CPU time)", f"at least {aim:g}", met=wall >= aim
    )


def _step(name: str, pattern: str, length: int, *, backward: bool) -> Callable[[], object]:
    """Give one pass of a kernel over tensors that are drawn beforehand."""
    return partial(_run, _call(pattern, length, backward=backward), name, backward=backward)


def _run(call: AttentionCall, name: str, *, backward: bool) -> Tensor:
    with torch.set_grad_enabled(backward):
        output = explicit(call) if name == EXPLICIT else KERNELS[name].run(call)
        if backward:
            torch.autograd.grad(output, [call.query, call.key, call.value], torch.ones_like(output))
    if CUDA:
        torch.cuda.synchronize()
    return output


def explicit(call: AttentionCall) -> Tensor:
    """Attend as the textbook writes it: all scores, masked, softmax, average."""
    scores = call.query @ call.key.transpose(-2, -1) / math.sqrt(call.query.shape[-1])
    if isinstance(call.pattern, Causal):
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).triu(1)
        scores = scores.masked_fill(hidden, -torch.inf)
    return torch.softmax(scores, dim=-1) @ call.value


def _call(pattern: str, length: int, *, backward: bool) -> AttentionCall:
    generator = torch.Generator().manual_seed(1)
    shape = BATCH, HEADS, length, HEAD_DIM
    tensors = [torch.randn(shape, generator=generator).to(DEVICE, DTYPE).requires_grad_(backward) for _ in range(3)]
    return AttentionCall(*tensors, pattern=PATTERNS[pattern])


def _peak(name: str, pattern: str, length: int, what: str) -> float:
    """Give the MB that one pass adds to what the tensors themselves take."""
    if not CUDA:
        return max(peak_mb("benchmarks.attention_lengths", "peak", name, pattern, length, what), 0.1)
    step = _step(name, pattern, length, backward=what == "training")
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    step()
    return (torch.cuda.max_memory_allocated() - before) / 2**20


def _peak_here(name: str, pattern: str, length: str, what: str) -> float:
    # Run once short first: what libraries set up at their first call is not attention's.
    _step(name, pattern, 64, backward=what == "training")()
    return rise(_step(name, pattern, int(length), backward=what == "training"))


if __name__ == "__main__":
    if sys.argv[1:2] == ["peak"]:
        print(_peak_here(*sys.argv[2:]))
    else:
        found = measure()
        columns = list(dict.fromkeys(key for row in found for key in row))
        print(table([columns, *([row.get(column, "") for column in columns] for row in found)]))
        if "--write" in sys.argv:
            write(f"attention_lengths_{DEVICE}", {"rows": found})
