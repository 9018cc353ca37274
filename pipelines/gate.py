"""May a trained model become champion: a pure function of its backtest, with reasons."""

import math
from dataclasses import dataclass

from pipelines.flows.result import BacktestResult

DECIDING = ("mase", "wql")
"""Metrics that a champion must be better on; those that are undefined for both do not count."""


@dataclass(frozen=True)
class Decision:
    """A verdict and what it rests on."""

    passed: bool
    reasons: tuple[str, ...]


def judge(result: BacktestResult, *, candidate: str, rival: str) -> Decision:
    """Pass a candidate that is strictly better than its rival on every deciding metric that was measured.

    Where none was, it does not pass.
    """
    own, other = result[candidate].overall(), result[rival].overall()
    names = [name for name in DECIDING if name in own and not (math.isnan(own[name]) and math.isnan(other[name]))]
    if not names:
        return Decision(passed=False, reasons=(f"none of {', '.join(DECIDING)} is defined on the test windows",))
    better = {name: result[candidate].better_than(result[rival], name) for name in names}
    reasons = (
        f"{name} {own[name]:.4f} is {'below' if better[name] else 'not below'} {other[name]:.4f} of {rival}"
        for name in names
    )
    return Decision(all(better.values()), tuple(reasons))
