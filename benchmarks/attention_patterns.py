"""What attention costs where patterns hide most keys: blocks of a window, and of a sparse pattern, against all pairs.

Prints times, memory and how both grow with the length; `--write` keeps them. QUICK=1 takes fewer rounds and lengths.
"""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

import torch

from benchmarks.shown import Shown, at_most, holds
from benchmarks.side_by_side import Timing, growth, peak_mb, race, rise, table, write
from forecast.attention.call import AttentionCall
from forecast.attention.choice import KERNELS
from forecast.attention.patterns import Full, Local, Pattern, Sparse

QUICK = os.environ.get("QUICK") == "1"
HEADS, HEAD_DIM = 4, 32
AGAINST = 8_192
LENGTHS = (2_048, 4_096, 8_192) if QUICK else (2_048, 4_096, 8_192, 16_384, 32_768)
ROUNDS = 3 if QUICK else 5
PATTERNS: dict[str, Pattern] = {
    "full": Full(),
    "local": Local(left=64, right=64),
    "sparse": Sparse(left=64, right=64, num_global=16, num_random_blocks=2, block_length=64),
}
FASTER = {"local": 10.0, "sparse": 4.0}
"""Times that the forward pass is to be faster than that of full attention."""
STEEPEST = 1.1
"""Slope of log cost over log length; 1 is linear."""
NEAREST = 1e-5
TASKS = ("forward", "training")


def show_patterns() -> Iterator[Shown]:
    """Show speed against full attention, growth of time and memory, and the distance from the definition."""
    yield from _shown(measure())


def measure() -> dict[str, Any]:
    """Time all patterns, tasks and lengths in turns, and take the memory of each in a process of its own."""
    cases = [(name, task, length) for name in PATTERNS for task in TASKS for length in _lengths(name)]
    names = {_name(*case): case for case in cases}
    timings = race({name: _variant(*case) for name, case in names.items()}, rounds=ROUNDS)
    peaks = {name: peak_mb("benchmarks.attention_patterns", "peak", *case) for name, case in names.items()}
    return {"timings": timings, "peak_mb": peaks}


def report(figures: dict[str, Any]) -> str:
    """Lay out time and memory of each variant, and how many times faster than full attention it is."""
    rows: list[tuple[object, ...]] = [("variant", "wall ms", "cpu ms", "x full", "(cpu)", "peak MB")]
    for name, timing in figures["timings"].items():
        task, length = name.split()[1:]
        full = figures["timings"].get(_name("full", task, int(length)))
        times = (full.wall_s / timing.wall_s, full.cpu_s / timing.cpu_s) if full else ("", "")
        rows.append((name, 1e3 * timing.wall_s, 1e3 * timing.cpu_s, *times, figures["peak_mb"][name]))
    return table(rows)


def _shown(figures: dict[str, Any]) -> Iterator[Shown]:
    timings: dict[str, Timing] = figures["timings"]
    for name, least in FASTER.items():
        for task in TASKS:
            full, ours = (timings[_name(some, task, AGAINST)] for some in ("full", name))
            times = full.wall_s / ours.wall_s
            figure = f"{times:.1f} times faster (CPU time: {full.cpu_s / ours.cpu_s:.1f})"
            aim, met = (f"at least {least:g}", times >= least) if task == "forward" else ("beside", None)
            yield holds(f"{name} against full attention, {AGAINST:,} tokens, {task}", figure, aim, met=met)
        for task in TASKS:
            seconds = {length: timings[_name(name, task, length)].wall_s for length in LENGTHS}
            memory = {length: figures["peak_mb"][_name(name, task, length)] for length in LENGTHS}
            span = f"from {LENGTHS[0]:,} to {LENGTHS[-1]:,} tokens"
            yield at_most(f"{name} {task}: exponent of time {span}", growth(seconds), STEEPEST)
            yield at_most(f"{name} {task}: exponent of memory {span}", growth(memory), STEEPEST)
        yield at_most(f"{name} against the definition, {LENGTHS[0]:,} tokens", _distance(name), NEAREST, digits=2)


def _lengths(name: str) -> tuple[int, ...]:
    return (AGAINST,) if name == "full" else LENGTHS


def _name(name: str, task: str, length: int) -> str:
    return f"{name} {task} {length}"


def _call(name: str, length: int, *, trained: bool = False) -> AttentionCall:
    generator = torch.Generator().manual_seed(1)
    tensors = [torch.randn(1, HEADS, length, HEAD_DIM, generator=generator) for _ in range(3)]
    return AttentionCall(*(tensor.requires_grad_(trained) for tensor in tensors), pattern=PATTERNS[name])


def _variant(name: str, task: str, length: int) -> Callable[[], object]:
    if task == "forward":
        call = _call(name, length)
        return lambda: KERNELS["sdpa"].run(call)
    call = _call(name, length, trained=True)
    leaves, ones = (call.query, call.key, call.value), torch.ones_like(call.query)
    return lambda: torch.autograd.grad(KERNELS["sdpa"].run(call), leaves, ones)


def _distance(name: str) -> float:
    call = _call(name, LENGTHS[0])
    return float((KERNELS["sdpa"].run(call) - KERNELS["reference"].run(call)).abs().max())


def _peak(name: str, task: str, length: str) -> float:
    """Give the MB of a first call, which finds nothing kept but the libraries loaded."""
    _variant(name, task, 1_024)()
    return rise(_variant(name, task, int(length)))


def main() -> None:
    """Print what was measured and what it was to be; keep it where --write says so."""
    figures = measure()
    print(report(figures))
    for shown in _shown(figures):
        print(shown)
    if "--write" in sys.argv:
        timings = {name: asdict(timing) for name, timing in figures["timings"].items()}
        print(write("attention_patterns", {"timings": timings, "peak_mb": figures["peak_mb"]}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["peak"]:
        print(_peak(*sys.argv[2:]))
    else:
        main()
