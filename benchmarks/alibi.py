"""ALiBi without a bias tensor beside a bias written out: time, memory and error, at the length that is aimed at.

`python -m benchmarks.alibi` prints the whole table and with `--write` keeps it. A dense bias is built before its times
are taken and counts in its memory. Trained slopes have a rival of their own: PyTorch computes a bias that is trained
by its kernel of quadratic memory. All variants use the same threads in the same way, so that aims are held against
CPU time, which other work on the machine changes less. QUICK=1 takes fewer rounds and shorter errors.
"""

import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from benchmarks.shown import Shown, at_most, holds
from benchmarks.side_by_side import Timing, peak_mb, race, rise, table, write
from forecast.attention.biases import SlopeBias
from forecast.attention.call import AttentionCall
from forecast.attention.choice import KERNELS
from forecast.attention.kernels.sdpa import written
from forecast.attention.patterns import Causal, Full, Pattern
from forecast.position.alibi import alibi_slopes

QUICK = os.environ.get("QUICK") == "1"
BATCH, HEADS, HEAD_DIM = 1, 4, 32
LENGTHS = (512, 1024, 2048, 4096, 8192)
AIMED_AT, ERROR_AT, TRAINED_AT = 8192, 2048 if QUICK else 8192, 2048
ROUNDS = 2 if QUICK else 5
PATTERNS: dict[str, Pattern] = {"causal": Causal(), "two-sided": Full()}
OURS, DENSE, UNBIASED = "no bias tensor", "dense bias, built before", "no ALiBi"
TRAINED, TRAINED_DENSE = "no bias tensor, trained slopes", "dense bias, trained slopes"
VARIANTS = (OURS, DENSE, UNBIASED, TRAINED, TRAINED_DENSE)
LONGEST_TRAINED_DENSE = 2048  # beyond it the matrices of its gradient take gigabytes
STEPS = {"forward": False, "forward and backward": True}
BLOCK = 256  # rows of a dense bias written at once
M_MMAP_THRESHOLD, OWN_BLOCK = -3, 65_536  # of mallopt(3), and bytes: memory that is given back leaves the process

CAUSAL_AIM, UNBIASED_AIM, TWO_SIDED_AIM, TRAINED_AIM, MEMORY_AIM = 1.6, 1.4, 0.9, 1.0, 15.0


def show_alibi() -> Iterator[Shown]:
    """Show speed and memory against a dense bias that costs nothing to build, and errors against fp64."""
    for what, backward in STEPS.items():
        times = _times("causal", AIMED_AT, (OURS, DENSE, UNBIASED), backward=backward)
        yield _faster(f"causal ALiBi, {AIMED_AT:,} tokens, {what}", times, CAUSAL_AIM)
        of_none = f"causal ALiBi, {AIMED_AT:,} tokens, {what}, CPU time over that without it"
        yield at_most(of_none, times[OURS].cpu_s / times[UNBIASED].cpu_s, UNBIASED_AIM)
        times = _times("two-sided", AIMED_AT, (OURS, DENSE), backward=backward)
        yield _faster(f"two-sided ALiBi, {AIMED_AT:,} tokens, {what}", times, TWO_SIDED_AIM)
        times = _times("two-sided", TRAINED_AT, (TRAINED, TRAINED_DENSE), backward=backward)
        name = f"two-sided ALiBi, trained slopes, {TRAINED_AT:,} tokens, {what}"
        yield _faster(name, times, TRAINED_AIM, own=TRAINED, rival=TRAINED_DENSE)
    yield from _show_memory()
    yield from _show_errors()


def _show_memory() -> Iterator[Shown]:
    for pattern in PATTERNS:
        dense = _peak(DENSE, pattern, AIMED_AT, backward=True)
        for variant in (OURS, TRAINED):
            own = _peak(variant, pattern, AIMED_AT, backward=True)
            figure = f"{dense / own:.0f} times less: {own:.0f} MB of {dense:,.0f}"
            name = f"{pattern} ALiBi, {variant}, {AIMED_AT:,} tokens, peak of training"
            yield holds(name, figure, f"at least {MEMORY_AIM:g} times less", met=dense / own >= MEMORY_AIM)


def _show_errors() -> Iterator[Shown]:
    for pattern in PATTERNS:
        for dtype in (torch.float32, torch.bfloat16):
            own, dense = _errors(pattern, ERROR_AT, dtype)
            precision = str(dtype).removeprefix("torch.")
            yield at_most(
                f"{pattern} ALiBi, {ERROR_AT:,} tokens, {precision}, error against a dense bias's", own, dense
            )


def measure() -> list[dict[str, float | str]]:
    """Give times and peaks of every variant, pattern and length, as rows."""
    rows: list[dict[str, float | str]] = []
    for length in LENGTHS:
        for pattern in PATTERNS:
            names = [name for name in VARIANTS if name != TRAINED_DENSE or length <= LONGEST_TRAINED_DENSE]
            times = {what: _times(pattern, length, names, backward=backward) for what, backward in STEPS.items()}
            rows += [_row(name, pattern, length, times) for name in names]
    return rows


def _row(name: str, pattern: str, length: int, times: dict[str, dict[str, Timing]]) -> dict[str, float | str]:
    row: dict[str, float | str] = {"variant": name, "pattern": pattern, "tokens": length}
    for what, backward in STEPS.items():
        row[f"{what} ms"] = 1000 * times[what][name].wall_s
        row[f"{what} x"] = times[what][DENSE].wall_s / times[what][name].wall_s
        row[f"{what} x CPU"] = times[what][DENSE].cpu_s / times[what][name].cpu_s
        row[f"{what} MB"] = _peak(name, pattern, length, backward=backward)
    return row


def _times(pattern: str, length: int, names: Sequence[str], *, backward: bool) -> dict[str, Timing]:
    call, bias = _call(pattern, length, backward=backward), _dense_bias(pattern, length)
    return race({name: _step(name, call, bias, backward=backward) for name in names}, rounds=ROUNDS)


def _faster(what: str, times: dict[str, Timing], aim: float, *, own: str = OURS, rival: str = DENSE) -> Shown:
    wall, cpu = (getattr(times[rival], clock) / max(getattr(times[own], clock), 1e-9) for clock in ("wall_s", "cpu_s"))
    figure = f"{cpu:.2f} times as fast as a {rival}, by CPU time ({wall:.2f} by the clock)"
    return holds(what, figure, f"at least {aim:g}", met=cpu >= aim)


def _step(name: str, call: AttentionCall, bias: Tensor | None, *, backward: bool) -> Callable[[], object]:
    """Give one pass over tensors that are drawn beforehand; without a dense bias that of `DENSE` builds its own."""
    slopes = alibi_slopes(HEADS).requires_grad_(backward and name in (TRAINED, TRAINED_DENSE))
    given = [call.query, call.key, call.value, *([slopes] if slopes.requires_grad else [])]
    sloped = replace(call, bias=SlopeBias(slopes))
    attend = {
        OURS: partial(KERNELS["sdpa"].run, sloped),
        TRAINED: partial(KERNELS["sdpa"].run, sloped),
        TRAINED_DENSE: partial(written, sloped),
        DENSE: partial(_attend_dense, call, bias),
        UNBIASED: partial(KERNELS["sdpa"].run, call),
    }[name]
    return partial(_run, attend, given, backward=backward)


def _run(attend: Callable[[], Tensor], given: list[Tensor], *, backward: bool) -> Tensor:
    with torch.set_grad_enabled(backward):
        output = attend()
        if backward:
            torch.autograd.grad(output, given, torch.ones_like(output))
    return output


def _attend_dense(call: AttentionCall, bias: Tensor | None) -> Tensor:
    if bias is None:
        bias = _dense_bias(next(name for name in PATTERNS if PATTERNS[name] == call.pattern), call.num_keys)
    return scaled_dot_product_attention(call.query, call.key, call.value, attn_mask=bias.to(call.query.dtype))


def _dense_bias(pattern: str, length: int) -> Tensor:
    """Write the bias out, in place and by blocks of rows, so that it takes no more than its own memory."""
    bias = torch.empty(1, HEADS, length, length)
    places = torch.arange(float(length))
    for slope, head in zip(alibi_slopes(HEADS), bias[0], strict=True):
        torch.sub(places, places.unsqueeze(1), out=head).abs_().mul_(-slope)
        if pattern == "causal":
            for rows, own in zip(head.split(BLOCK), places.split(BLOCK), strict=True):
                rows.masked_fill_(places > own.unsqueeze(1), -torch.inf)
    return bias


def _call(pattern: str, length: int, *, backward: bool) -> AttentionCall:
    generator = torch.Generator().manual_seed(1)
    shape = BATCH, HEADS, length, HEAD_DIM
    tensors = [torch.randn(shape, generator=generator).requires_grad_(backward) for _ in range(3)]
    return AttentionCall(*tensors, pattern=PATTERNS[pattern])


def _errors(pattern: str, length: int, dtype: torch.dtype) -> tuple[float, float]:
    """Give the root mean square errors of our output and of that under a dense bias, against fp64 throughout."""
    call = _call(pattern, length, backward=False)
    query, key, value = (tensor.to(dtype) for tensor in (call.query, call.key, call.value))
    given = replace(call, query=query, key=key, value=value, bias=SlopeBias(alibi_slopes(HEADS)))
    bias = _dense_bias(pattern, length)
    exact = [
        _attend_dense(replace(call, query=query[:, some], key=key[:, some], value=value[:, some]), bias[:, some])
        for query, key, value in [[tensor.double() for tensor in (query, key, value)]]
        for some in torch.arange(HEADS).split(1)
    ]
    own, dense = KERNELS["sdpa"].run(given), _attend_dense(given, bias)
    expected = torch.cat(exact, dim=1)
    return float((own - expected).square().mean().sqrt()), float((dense - expected).square().mean().sqrt())


def _peak(name: str, pattern: str, length: int, *, backward: bool) -> float:
    """Give the MB that one pass adds to its inputs; a dense bias is among them."""
    what = "training" if backward else "forward"
    return max(peak_mb("benchmarks.alibi", "peak", VARIANTS.index(name), pattern, length, what), 0.1)


def _peak_here(number: str, pattern: str, length: str, what: str) -> float:
    name, backward = VARIANTS[int(number)], what == "training"
    ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, OWN_BLOCK)
    # Run once short first: what libraries set up at their first call is not attention's.
    _step(name, _call(pattern, 512, backward=backward), None, backward=backward)()
    return rise(_step(name, _call(pattern, int(length), backward=backward), None, backward=backward))


if __name__ == "__main__":
    if sys.argv[1:2] == ["peak"]:
        print(_peak_here(*sys.argv[2:]))
    else:
        found = measure()
        columns = list(found[0])
        print(table([columns, *([row[column] for column in columns] for row in found)]))
        if "--write" in sys.argv:
            write("alibi", {"rows": found})
