"""Decoding long horizons: over a cache against running the prefix again, for one series and for many sample paths.

What is measured is how the model serves: the decoder's own roll-out. It has to give what the slow way gives.
"""

import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor

from benchmarks.hf_time_series import show_hf_time_series
from benchmarks.shown import Shown, at_most, holds
from benchmarks.side_by_side import NUM_THREADS, Timing, race, table, threads, write
from forecast.attention.patterns import AnyPattern, Causal, Linear, Local
from forecast.config import build_config
from forecast.model.config import ModelConfig
from forecast.model.decoding.autoregressive import AutoregressiveDecoder, Unrolling
from forecast.model.decoding.base import Known
from forecast.model.encoder import Memory
from forecast.model.paths import draw_levels
from forecast.model.transformer import ForecastModel

QUICK = os.environ.get("QUICK") == "1"
ROUNDS = 1 if QUICK else 2

CONTEXT, PATCH = 512, 8
"""Of the encoder: 64 tokens of memory. The decoder takes a token a step, where decoding costs most."""
D_MODEL, HEADS, LAYERS = 128, 4, 3
HORIZON = 720
PATHS, PATH_HORIZON = 100, 96
"""Of the comparison with many paths: to run 100 prefixes again for 720 steps would take most of an hour."""
WINDOW = 64
EARLY, LATE, AROUND = 72, 720, 24
"""Steps whose cost is compared, each the middle one of so many around it."""

VERDICTS = {True: "met", False: "missed", None: "not shown"}

ONE_AIM, PATHS_AIM, EXACT = 12.0, 15.0, 1e-5
FLAT: Mapping[str, tuple[AnyPattern, float]] = {
    "causal": (Causal(), 1.2),
    "local ring": (Local(left=WINDOW - 1, right=0), 1.05),
    "linear state": (Linear(causal=True), 1.05),
}


@dataclass(frozen=True, eq=False)
class Case:
    """One decoder and what it is to decode."""

    decoder: AutoregressiveDecoder
    known: Known
    model: ForecastModel

    @classmethod
    def of(cls, pattern: AnyPattern) -> "Case":
        """Build an untrained model and one series."""
        torch.manual_seed(0)
        plain = {
            "context_length": CONTEXT,
            "horizon": HORIZON,
            "patch_length": PATCH,
            "layer": {"d_model": D_MODEL, "num_heads": HEADS},
            "head": {"kind": "student_t"},
            "decoder": {"kind": "autoregressive", "num_layers": LAYERS, "pattern": pattern},
        }
        model = ForecastModel(build_config(ModelConfig, plain)).eval().requires_grad_(False)
        assert isinstance(model.decoder, AutoregressiveDecoder)
        past = torch.randn(1, CONTEXT, generator=torch.Generator().manual_seed(1)).cumsum(dim=1) / CONTEXT**0.5
        observed = torch.ones_like(past, dtype=torch.bool)
        known = Known(memory=model.encoder(past, observed), past=past, past_observed=observed)
        return cls(model.decoder, known, model)

    @torch.inference_mode()
    def over_cache(self) -> Float[Tensor, "1 step"]:
        """Decode the horizon, feeding back locations."""
        return self.decoder.roll_out(self.known, horizon=HORIZON)[..., 0]

    @torch.inference_mode()
    def again(self) -> Float[Tensor, "1 step"]:
        """Give the same without a cache."""
        return run_again(self.decoder, self.known, HORIZON, lambda parameters, step: parameters[..., 0])

    @torch.inference_mode()
    def paths(self, levels: Tensor) -> Float[Tensor, "path step"]:
        """Draw paths of the series."""
        return self.decoder.sample(self.known, levels=levels, head=self.model.config.head)[0]

    @torch.inference_mode()
    def paths_again(self, levels: Tensor) -> Float[Tensor, "path step"]:
        """Give the same without a cache, from a memory that is held once a path."""
        tokens = self.known.memory.tokens.repeat_interleave(levels.shape[1], dim=0)
        rows = [part.repeat_interleave(levels.shape[1], dim=0) for part in (self.known.past, self.known.past_observed)]
        known = Known(memory=Memory(tokens, None), past=rows[0], past_observed=rows[1])
        head = self.model.config.head
        return run_again(
            self.decoder, known, levels.shape[2], lambda parameters, step: head.sample(parameters, levels[0][:, [step]])
        )


def run_again(
    decoder: AutoregressiveDecoder, known: Known, count: int, choose: Callable[[Tensor, int], Tensor]
) -> Float[Tensor, "row step"]:
    """Decode by running the whole decoder over the prefix at every step, as training does once: nothing is kept."""
    patches = decoder.lay(known)
    values = patches.label
    for step in range(count):
        shown = patches.show(values, torch.ones_like(values, dtype=torch.bool), first=0)
        tokens = decoder.embed(shown, None, decoder.position(torch.arange(values.shape[1])))
        memory = decoder.stack.project_memory(known.memory.tokens)
        decoded = decoder.stack(tokens, memory=memory, memory_observed=None, ahead=decoder.ahead)
        new = choose(decoder.output(decoded[:, -1:], None), step)
        values = torch.cat([values, new[:, None]], dim=1)
    return values[:, 1:, 0]


def show_decoding() -> Iterator[Shown]:
    """Show how much faster a cache decodes, that it decodes the same, and that no step costs more than those before."""
    yield from _show_one()
    yield from _show_paths()
    for name, (pattern, aim) in FLAT.items():
        early, late = step_costs(Case.of(pattern), rounds=4 if QUICK else 8)
        yield at_most(f"cost of step {LATE} in units of step {EARLY}, {name}", late / early, aim)
    yield from show_hf_time_series()


def _show_one() -> Iterator[Shown]:
    case = Case.of(Causal())
    yield from _compare(f"{HORIZON} steps of one series over a cache", case.again, case.over_cache, aim=ONE_AIM)


def _show_paths() -> Iterator[Shown]:
    case, levels = Case.of(Causal()), draw_levels([0], seed=0, num_paths=PATHS, horizon=PATH_HORIZON)
    name = f"{PATH_HORIZON} steps of {PATHS} sample paths over one memory and a cache"
    yield from _compare(name, partial(case.paths_again, levels), partial(case.paths, levels), aim=PATHS_AIM)


def _compare(name: str, again: Callable[[], Tensor], cache: Callable[[], Tensor], *, aim: float) -> Iterator[Shown]:
    given: dict[str, Tensor] = {}
    variants = {"again": again, "cache": cache}
    times = race({key: partial(_keep, given, key, variant) for key, variant in variants.items()}, rounds=ROUNDS)
    yield _faster(name, times, aim)
    apart = (given["again"] - given["cache"]).abs().max() / given["again"].abs().max().clamp(min=1)
    yield at_most("  largest difference from running the prefix again", float(apart), EXACT)


def _keep(given: dict[str, Tensor], name: str, variant: Callable[[], Tensor]) -> None:
    given[name] = variant()


def _faster(name: str, times: Mapping[str, Timing], aim: float) -> Shown:
    wall, cpu = (getattr(times["again"], clock) / getattr(times["cache"], clock) for clock in ("wall_s", "cpu_s"))
    spent = f"{times['cache'].wall_s:.2f} s of {times['again'].wall_s:.2f} s"
    figure = f"{wall:.1f} times as fast as running the prefix again ({cpu:.1f} by CPU time), {spent}"
    return holds(name, figure, f"at least {aim:g}", met=wall >= aim)


@torch.inference_mode()
def step_costs(case: Case, *, rounds: int) -> tuple[float, float]:
    """Give the seconds of an early and of a late step: the middle of those around it, each the best of all rounds."""
    count = LATE + AROUND
    best = [float("inf")] * count
    with threads(NUM_THREADS):
        for _ in range(rounds):
            unrolling = Unrolling(case.decoder, case.known, count=count)
            parameters = unrolling.begin()
            for step in range(1, count):
                started = time.perf_counter()
                parameters = unrolling.go_on(parameters[..., 0])
                best[step] = min(best[step], time.perf_counter() - started)
    early, late = (statistics.median(best[step - AROUND : step + AROUND]) for step in (EARLY, LATE))
    return early, late


def main() -> int:
    """Print every line as a table, keep the lines with `--write`, and give the exit status."""
    found = list(show_decoding())
    print(
        table(
            [
                (shown.name, shown.figure, shown.aim, {True: "met", False: "missed", None: "-"}[shown.met])
                for shown in found
            ]
        )
    )
    if "--write" in sys.argv:
        write("decoding", {shown.name.strip(): shown.figure for shown in found})
    return 0 if all(shown.met is not False for shown in found) else 1


if __name__ == "__main__":
    sys.exit(main())
