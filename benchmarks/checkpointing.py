"""What checkpointing saves: one training step over a long context, its time, memory and gradients in each mode.

`python -m benchmarks.checkpointing` prints the table and with `--write` keeps it; QUICK=1 takes a quarter of the
context.

Memory is shown twice: in use, and held. Older glibc cannot use a freed block again for an aligned one of the same size
(as every tensor is), so its heap holds far more than is in use; a lower bound for blocks of their own, which go back at
once (`MALLOC_MMAP_THRESHOLD_=65536` in the environment of any process), shows what is in use.
"""

import ctypes
import os
import sys
from collections.abc import Iterator
from functools import partial

import torch

from benchmarks.shown import Shown, at_most, holds
from benchmarks.side_by_side import NUM_THREADS, Timing, peak_mb, race, rise, table, threads, write
from forecast.batch import Batch
from forecast.config import build_config
from forecast.model.transformer import ForecastModel, ModelConfig

QUICK = os.environ.get("QUICK") == "1"
CONTEXT, HORIZON = (2048, 128) if QUICK else (8192, 512)
MODES = ("none", "full", "selective")
MODULE = "benchmarks.checkpointing"
MEMORY_AIM, SPEED_AIM = 0.45, 0.97
M_MMAP_THRESHOLD, OWN_BLOCK = -3, 65_536  # of mallopt(3), and bytes


def show_checkpointing() -> Iterator[Shown]:
    """Show memory and speed of the selective mode against keeping everything, and that gradients are the same."""
    times, in_use, held = measure()
    what = f"checkpointing, step over {CONTEXT:,} + {HORIZON} tokens"
    for mode in MODES[1:]:
        aimed = mode == "selective" and not QUICK
        name = f"{mode} {what}, {in_use[mode]:.0f} MB in use of {in_use['none']:.0f}"
        share = in_use[mode] / in_use["none"]
        yield at_most(name, share, MEMORY_AIM) if aimed else _unaimed(name, share)
        yield _unaimed(f"{mode} {what}, {held[mode]:.0f} MB held of {held['none']:.0f}", held[mode] / held["none"])
        yield _speed(f"{mode} {what}, speed", times["none"], times[mode], aimed=aimed)
    yield holds("gradients with and without checkpointing", "compared to the bit", "equal", met=_same_gradients())


def _unaimed(name: str, figure: float) -> Shown:
    return holds(name, f"{figure:.3g}", "as it comes out", met=None)


def _speed(name: str, before: Timing, after: Timing, *, aimed: bool) -> Shown:
    wall, cpu = before.wall_s / after.wall_s, before.cpu_s / after.cpu_s
    if not aimed:
        return _unaimed(name, wall)
    figure = f"{wall:.3g} ({cpu:.3g} by CPU time)"
    return holds(name, figure, f"at least {SPEED_AIM:g}", met=max(wall, cpu) >= SPEED_AIM)


def measure() -> tuple[dict[str, Timing], dict[str, float], dict[str, float]]:
    """Give the time of one step in each mode, and its peak memory in MB: in use, and as the heap holds it."""
    times = race({mode: partial(_step, *_prepared(mode)) for mode in MODES}, rounds=3 if QUICK else 5)
    in_use, held = ({mode: peak_mb(MODULE, task, mode) for mode in MODES} for task in ("in_use", "held"))
    return times, in_use, held


def _prepared(mode: str, *, context: int = CONTEXT, horizon: int = HORIZON) -> tuple[ForecastModel, Batch]:
    torch.manual_seed(1)
    plain = {
        "context_length": context,
        "horizon": horizon,
        "num_encoder_layers": 3,
        "layer": {"d_model": 128, "num_heads": 4, "dropout": 0.0, "checkpointing": mode},
        "position": {"kind": "rope"},
        "decoder": {"kind": "direct", "num_layers": 3},
        "head": {"kind": "mse"},
    }
    model = ForecastModel(build_config(ModelConfig, plain))
    values = torch.randn(1, context + horizon, dtype=torch.float64).cumsum(dim=1)
    everything = torch.ones_like(values, dtype=torch.bool)
    batch = Batch(
        past=values[:, :context],
        past_observed=everything[:, :context],
        future=values[:, context:],
        future_observed=everything[:, context:],
        unit=torch.ones(1, dtype=torch.float64),
    )
    return model, batch


def _step(model: ForecastModel, batch: Batch) -> None:
    model.zero_grad(set_to_none=True)
    model.teacher_forced_loss(batch).backward()


def _same_gradients() -> bool:
    found = []
    with threads(NUM_THREADS):
        for mode in MODES:
            model, batch = _prepared(mode)
            _step(model, batch)
            found.append([weight.grad for weight in model.parameters()])
    return all(_equal(one, other) for other_mode in found[1:] for one, other in zip(found[0], other_mode, strict=True))


def _equal(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    return one is other is None or (one is not None and other is not None and torch.equal(one, other))


def _peak_here(task: str, mode: str) -> float:
    # A short step first: what libraries set up at their first call is not the model's.
    _step(*_prepared(mode, context=64, horizon=8))
    prepared = _prepared(mode)
    if task == "in_use":
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, OWN_BLOCK)
    return rise(partial(_step, *prepared))


def main() -> None:
    """Print the table."""
    times, in_use, held = measure()
    before = times["none"]
    names = ["mode", "speed", "speed by CPU time", "MB in use", "MB held"]
    rows = [
        [mode, before.wall_s / times[mode].wall_s, before.cpu_s / times[mode].cpu_s, in_use[mode], held[mode]]
        for mode in MODES
    ]
    print(table([names, *rows]))
    if "--write" in sys.argv:
        figures = [dict(zip(names, row, strict=True)) for row in rows]
        write("checkpointing", {"context": CONTEXT, "horizon": HORIZON, "rows": figures})


if __name__ == "__main__":
    if sys.argv[1:2] in (["in_use"], ["held"]):
        print(_peak_here(*sys.argv[1:]))
    else:
        main()
