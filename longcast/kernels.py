"""Which attention kernel serves which call on this machine, and which of them `auto` takes: a table with reasons."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product

import torch
from rich import box
from rich.console import Console
from rich.table import Table

from forecast.attention.biases import Bias, BucketBias, SlopeBias
from forecast.attention.call import AttentionCall
from forecast.attention.choice import KERNELS, PREFERENCE, choose
from forecast.attention.patterns import Causal, Full, Linear, Local, Pattern, Sparse
from forecast.errors import BackendUnavailable

NUM_HEADS, LENGTH, HEAD_DIM = 4, 64, 64
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
PATTERNS: tuple[Full | Causal | Local | Sparse | Linear, ...] = (Full(), Causal(), Local(), Sparse(), Linear())
BIASES = ("none", "alibi", "relative")
USES = ("inference", "training")
WIDTH = 110  # columns of text: cells cut short would say nothing


@dataclass(frozen=True)
class Served:
    """One kind of call, and what each kernel says of it."""

    pattern: str
    bias: str
    use: str
    precision: str
    auto: str
    """The kernel that `auto` takes; "none" where no kernel serves."""
    reasons: dict[str, str | None]
    """Of each kernel why it cannot serve, or why `auto` rather takes another; None where it serves as it is."""

    def said(self) -> tuple[object, ...]:
        """Give all but the precision."""
        return self.pattern, self.bias, self.use, self.auto, tuple(self.reasons.items())


@dataclass
class Notes:
    """Reasons by number, each told once."""

    told: list[str] = field(default_factory=list)

    def number(self, reason: str) -> int:
        """Give the number of a reason, counted from 1."""
        if reason not in self.told:
            self.told.append(reason)
        return self.told.index(reason) + 1


def print_kernels() -> None:
    """Print a table for each device of this machine."""
    for device in ("cuda", "cpu") if torch.cuda.is_available() else ("cpu",):
        rows, notes = served(torch.device(device)), Notes()
        Console(width=max(Console().width, WIDTH)).print(_table(rows, notes, device=device))
        for number, reason in enumerate(notes.told, start=1):
            print(f"[{number}] {reason}")
        print(f"auto on {device} takes the first that serves of: {', '.join(PREFERENCE[device])}\n")


def served(device: torch.device) -> list[Served]:
    """Ask every kernel about every kind of call; kinds that differ in precision alone are put together."""
    found: dict[tuple[object, ...], Served] = {}
    for row in _asked(device):
        same = found.get(row.said())
        found[row.said()] = row if same is None else replace(same, precision=f"{same.precision} {row.precision}")
    return list(found.values())


def _asked(device: torch.device) -> Iterator[Served]:
    for pattern, bias, use, precision in product(PATTERNS, BIASES, USES, DTYPES):
        if isinstance(pattern, Linear) and bias != "none":
            continue  # no model has it: there is no score that a bias could be added to
        call = _call(pattern, bias, DTYPES[precision], trains=use == "training", device=device)
        reasons = {name: kernel.refusal(call) or kernel.reluctance(call) for name, kernel in KERNELS.items()}
        yield Served(pattern.kind, bias, use, precision, _auto(call), reasons)


def _auto(call: AttentionCall) -> str:
    try:
        return choose(call).name
    except BackendUnavailable:
        return "none"


def _call(pattern: Pattern, bias: str, dtype: torch.dtype, *, trains: bool, device: torch.device) -> AttentionCall:
    shape = 1, NUM_HEADS, LENGTH, HEAD_DIM
    tensors = [torch.zeros(shape, dtype=dtype, device=device).requires_grad_(trains) for _ in range(3)]
    return AttentionCall(*tensors, pattern=pattern, bias=_bias(bias, trains=trains, device=device))


def _bias(name: str, *, trains: bool, device: torch.device) -> Bias | None:
    if name == "none":
        return None
    if name == "alibi":
        return SlopeBias(torch.ones(NUM_HEADS, device=device))
    return BucketBias(torch.zeros(NUM_HEADS, 32, device=device).requires_grad_(trains), reach=LENGTH)


def _table(rows: list[Served], notes: Notes, *, device: str) -> Table:
    table = Table(title=f"attention on {device}", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    for name in ("pattern", "bias", "use", "precision", "auto", *KERNELS):
        table.add_column(name, no_wrap=True)
    for row in rows:
        cells = [_cell(row, name, notes) for name in KERNELS]
        table.add_row(row.pattern, row.bias, row.use, row.precision, f"[bold]{row.auto}[/]", *cells)
    return table


def _cell(row: Served, name: str, notes: Notes) -> str:
    reason = row.reasons[name]
    return "yes" if reason is None else f"\\[{notes.number(reason)}]"
