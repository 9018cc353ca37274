"""Linear attention: how time and memory grow, from where on it is faster than exact attention, how far from a softmax.

`python -m benchmarks.linear_attention` prints the tables and with `--write` keeps them; QUICK=1 stops at 8,192 tokens.
Verdicts are by CPU time, which a busy machine disturbs less; wall clock stands beside it.
"""

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.shown import Shown, at_most, holds
from benchmarks.side_by_side import Timing, growth, peak_mb, race, rise, table, threads, write
from forecast.attention.call import AttentionCall
from forecast.attention.choice import attend
from forecast.attention.features import PositiveRandom
from forecast.attention.patterns import Causal, Full, Linear, Pattern
from forecast.attention.state import LinearState

QUICK = os.environ.get("QUICK") == "1"
HEADS, HEAD_DIM = 4, 32
LENGTHS = (2048, 4096, 8192) if QUICK else (4096, 8192, 16_384, 32_768)
MEMORY_LENGTHS = (8192, 32_768)
CROSSING = (128, 256, 512, 1024, 2048, 4096, 8192)
NUM_FEATURES = (16, 64, 256, 1024)
STEPS = 512 if QUICK else 4096
GROWTH_AIM, CROSSING_AIM = 1.1, 2048
PASSES = {"forward": False, "forward and backward": True}

LINEAR: dict[str, Linear] = {
    "elu": Linear(),
    "random": Linear(features=PositiveRandom()),
    "elu, causal": Linear(causal=True),
    "random, causal": Linear(features=PositiveRandom(), causal=True),
}


def show_linear() -> Iterator[Shown]:
    """Show how time and memory grow, where exact attention is left behind, and how far a softmax is."""
    for backward in PASSES.values():
        yield from _growth_shown(grown(backward=backward), backward=backward)
        for name in LINEAR:
            crossing = first_faster(name, backward=backward)
            what = f"linear attention ({name}) faster than exact from, {_pass(backward)}"
            figure = f"{crossing:,} tokens" if crossing else f"none of up to {CROSSING[-1]:,} tokens"
            met = crossing is not None and crossing <= CROSSING_AIM
            yield holds(what, figure, f"at most {CROSSING_AIM:,}", met=met)
    yield from show_memory()
    yield at_most(f"linear state, time of the last of {STEPS:,} tokens over the first", *_step_growth(), digits=2)
    errors = softmax_errors()
    falls = all(more < fewer for fewer, more in pairwise(errors.values()))
    figure = ", ".join(f"{error:.2f} of {count}" for count, error in errors.items())
    yield holds("error of random features relative to softmax, q and k of half the norm", figure, "falls", met=falls)


def _growth_shown(times: dict[str, dict[int, Timing]], *, backward: bool) -> Iterator[Shown]:
    span = f"{LENGTHS[0]:,} to {LENGTHS[-1]:,} tokens, {_pass(backward)}"
    for name, by_length in times.items():
        slope = growth({length: timing.cpu_s for length, timing in by_length.items()})
        yield at_most(f"linear attention ({name}), exponent of time over {span}", slope, GROWTH_AIM)


def show_memory() -> Iterator[Shown]:
    """Show how the memory of a training pass grows."""
    first, last = MEMORY_LENGTHS
    for name in LINEAR:
        peaks = {length: peak(name, length, backward=True) for length in MEMORY_LENGTHS}
        what = f"linear attention ({name}), exponent of training memory, {first:,} to {last:,} tokens"
        yield at_most(f"{what}, {peaks[last]:.0f} MB at the end", growth(peaks), GROWTH_AIM)


def grown(*, backward: bool) -> dict[str, dict[int, Timing]]:
    """Time every kind at all lengths, in turns and in one thread, whose CPU time a busy machine moves least."""
    variants = {
        f"{name} {length}": partial(_in_one_thread, _step(LINEAR[name], length, backward=backward))
        for name in LINEAR
        for length in LENGTHS
    }
    times = race(variants, rounds=4)
    return {name: {length: times[f"{name} {length}"] for length in LENGTHS} for name in LINEAR}


def first_faster(name: str, *, backward: bool) -> int | None:
    """Give the first length from which linear attention takes less time than exact attention of the same causality."""
    for length in CROSSING:
        times = against_exact(name, length, backward=backward)
        if times["linear"].cpu_s < times["exact"].cpu_s:
            return length
    return None


def against_exact(name: str, length: int, *, backward: bool) -> dict[str, Timing]:
    """Time linear attention and the exact one in turns."""
    pattern = LINEAR[name]
    rounds = max(3, min(20, 20_000 // length))
    exact = Causal() if pattern.causal else Full()
    return race(
        {"linear": _step(pattern, length, backward=backward), "exact": _step(exact, length, backward=backward)},
        rounds=rounds,
    )


def peak(name: str, length: int, *, backward: bool) -> float:
    """Give the MB that one pass takes beside queries, keys and values, in a process of its own."""
    return peak_mb("benchmarks.linear_attention", "peak", name, length, int(backward))


def softmax_errors(*, factor: float = 0.5, draws: int = 8) -> dict[int, float]:
    """Give the error of the output relative to softmax attention, the mean of several draws, by number of features."""
    query, key, value = _draw(256)
    query, key = factor * query, factor * key
    exact = functional.scaled_dot_product_attention(query, key, value)

    def error(num_features: int, seed: int) -> float:
        pattern = Linear(features=PositiveRandom(num_features=num_features, seed=seed))
        return float((attend(AttentionCall(query, key, value, pattern=pattern)) - exact).norm() / exact.norm())

    return {count: sum(error(count, seed) for seed in range(draws)) / draws for count in NUM_FEATURES}


def _step_growth() -> tuple[float, float]:
    """Give the time of a decoding step at the end over that at the beginning, and the bound of noise."""
    state, fresh = LinearState(LINEAR["elu, causal"].features), LinearState(LINEAR["elu, causal"].features)
    tokens = _draw(1)
    with torch.inference_mode():
        for _ in range(STEPS):
            state.step(*tokens)
        times = race({"last": partial(state.step, *tokens), "first": partial(fresh.step, *tokens)}, rounds=50)
    return times["last"].cpu_s / times["first"].cpu_s, 1.2


def _step(pattern: Pattern, length: int, *, backward: bool) -> Callable[[], object]:
    tensors = [tensor.requires_grad_(backward) for tensor in _draw(length)]
    return partial(_run, AttentionCall(*tensors, pattern=pattern), backward=backward)


def _run(call: AttentionCall, *, backward: bool) -> None:
    with torch.set_grad_enabled(backward):
        output = attend(call)
        if backward:
            torch.autograd.grad(output, [call.query, call.key, call.value], torch.ones_like(output))


def _in_one_thread(step: Callable[[], object]) -> None:
    with threads(1):
        step()


def _draw(length: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(1, HEADS, length, HEAD_DIM, generator=generator) for _ in range(3)]


def _pass(backward: bool) -> str:
    return next(name for name, value in PASSES.items() if value == backward)


def _peak_here(name: str, length: str, backward: str) -> float:
    # A short one first: what libraries set up at their first call is not attention's.
    _step(LINEAR[name], 64, backward=bool(int(backward)))()
    return rise(_step(LINEAR[name], int(length), backward=bool(int(backward))))


def rows(*, backward: bool) -> list[dict[str, Any]]:
    """Give speed against exact attention and the peak of memory, by kind and length."""
    found: list[dict[str, Any]] = []
    for length in (*CROSSING, *(length for length in LENGTHS if length > CROSSING[-1])):
        for name in LINEAR:
            times = against_exact(name, length, backward=backward)
            own, exact = times["linear"], times["exact"]
            found.append(
                {
                    "pass": _pass(backward),
                    "features": name,
                    "tokens": length,
                    "ms": 1000 * own.wall_s,
                    "times exact": exact.wall_s / own.wall_s,
                    "times exact by CPU time": exact.cpu_s / own.cpu_s,
                    "MB": peak(name, length, backward=backward) if length in MEMORY_LENGTHS else None,
                }
            )
    return found


def main() -> None:
    """Print the tables."""
    found = [row for backward in PASSES.values() for row in rows(backward=backward)]
    print(table([list(found[0]), *(list(row.values()) for row in found)]))
    errors = {f"norm x {factor}": softmax_errors(factor=factor) for factor in (0.5, 1.0)}
    print(table([["error by features", *NUM_FEATURES], *([name, *some.values()] for name, some in errors.items())]))
    if "--write" in sys.argv:
        write("linear_attention", {"rows": found, "errors": errors})


if __name__ == "__main__":
    if sys.argv[1:2] == ["peak"]:
        print(_peak_here(*sys.argv[2:]))
    else:
        main()
