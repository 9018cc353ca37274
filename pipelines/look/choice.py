"""Which series are drawn, and why: the unusual ones first, then others by a fixed draw."""

from dataclasses import dataclass

import numpy as np

from pipelines.look.facts import SeriesFacts

MAX_DRAWN = 6  # more are not looked at
SEED = 1


@dataclass(frozen=True)
class Pick:
    """A series to draw."""

    number: int
    reason: str
    """Empty where all series are drawn."""


def pick_series(facts: SeriesFacts) -> tuple[Pick, ...]:
    """Choose a few series, each once; all of them where they are few."""
    if len(facts) <= MAX_DRAWN:
        return tuple(Pick(number, "") for number in range(len(facts)))
    picks: dict[int, str] = {}
    for reason, number in _unusual(facts).items():
        picks[number] = f"{picks[number]}, {reason}" if number in picks else reason
    others = np.random.default_rng(SEED).permutation(len(facts)).tolist()
    for number in [number for number in others if number not in picks][: MAX_DRAWN - len(picks)]:
        picks[number] = "drawn at random"
    return tuple(Pick(number, reason) for number, reason in picks.items())


def _unusual(facts: SeriesFacts) -> dict[str, int]:
    chosen = {"longest": int(facts.lengths.argmax())}
    if facts.num_missing.any():
        chosen["most missing"] = int(facts.missing.argmax())
    if np.nanmax(facts.zeros, initial=0.0) > 0:
        chosen["most zeros"] = int(np.nanargmax(facts.zeros))
    return chosen
