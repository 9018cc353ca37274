"""May a trained model become champion: a pure function of its backtest, with reasons."""

from dataclasses import dataclass

from pipelines.flows.result import BacktestResult

DECIDING = ("mase", "wql")
"""Metrics that a champion must be better on."""


@dataclass(frozen=True)
class Decision:
    """A verdict and what it rests on."""

    passed: bool
    reasons: tuple[str, ...]


def judge(result: BacktestResult, *, candidate: str, rival: str) -> Decision:
    """Pass a candidate that is better than its rival on every deciding metric that both have."""
    names = [name for name in DECIDING if name in result[candidate].overall()]
    reasons, passed = [], True
    for name in names:
        own, other = result[candidate].overall()[name], result[rival].overall()[name]
        better = result[candidate].better_than(result[rival], name)
        passed = passed and better
        reasons.append(f"{name} {own:.4f} is {'below' if better else 'not below'} {other:.4f} of {rival}")
    return Decision(passed and bool(names), tuple(reasons))
