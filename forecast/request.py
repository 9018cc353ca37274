"""What is asked of a model beside the data: how far, from how much past, at which levels; checked before any work."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from forecast.card import Card
from forecast.errors import ConfigError
from forecast.frames.answer import levels_of

Levels = int | float | Iterable[int | float]
"""One level or several: central intervals in per cent (`level`), or probabilities (`quantile_levels`)."""

SEED_BITS = 63
"""Of a seed: it passes through JSON and every language as a signed integer."""


@dataclass(frozen=True)
class Request:
    """A checked request, complete."""

    horizon: int
    """Steps to forecast, 1 or more."""

    context_length: int
    """Newest steps of each series that the model is shown, 1 or more."""

    quantile_levels: tuple[float, ...]
    """Ascending, each inside (0, 1)."""

    num_samples: int | None = None
    """Sample paths that mean and quantiles are read from, 1 or more; None takes them from the head in closed form."""

    seed: int = 0
    """Of the sample paths, 0 or more: the same seed gives the same forecast."""

    @classmethod
    def complete(
        cls,
        card: Card,
        *,
        horizon: int | None = None,
        context_length: int | None = None,
        level: Levels | None = None,
        quantile_levels: Levels | None = None,
        num_samples: int | None = None,
        seed: int = 0,
    ) -> Self:
        """Check what is asked for and fill in what was trained for the rest.

        Raises:
            ConfigError: a length or number is below 1, a level or seed is out of range, or `level` and
                `quantile_levels` are both given.
        """
        return cls(
            horizon=_length("horizon", card.horizon if horizon is None else horizon),
            context_length=_length("context_length", card.context_length if context_length is None else context_length),
            quantile_levels=_levels(card, level, quantile_levels),
            num_samples=None if num_samples is None else _num_samples(num_samples),
            seed=_seed(seed),
        )


def _length(name: str, steps: int) -> int:
    if steps < 1:
        raise ConfigError(f"{name} must be 1 step or more, got {steps}", field=name)
    return int(steps)


def _num_samples(number: int) -> int:
    if number < 1:
        raise ConfigError(
            f"num_samples must be 1 path or more, got {number}; leave it out for no paths", field="num_samples"
        )
    return int(number)


def _seed(seed: int) -> int:
    if not 0 <= seed < 2**SEED_BITS:
        raise ConfigError(f"seed must be a whole number from 0 to 2**{SEED_BITS} - 1, got {seed}", field="seed")
    return int(seed)


def _levels(card: Card, level: Levels | None, quantile_levels: Levels | None) -> tuple[float, ...]:
    if level is not None and quantile_levels is not None:
        raise ConfigError(
            "level and quantile_levels say the same in two ways, give one: level=80 is quantile_levels=[0.1, 0.9]",
            field="level",
        )
    if level is not None:
        return levels_of(level=_several("level", level, below=100))
    if quantile_levels is not None:
        return tuple(sorted(set(_several("quantile_levels", quantile_levels, below=1))))
    return card.quantile_levels


def _several(name: str, given: Levels, *, below: int) -> list[float]:
    levels = [float(level) for level in (given if isinstance(given, Iterable) else [given])]
    for level in levels:
        if not 0 < level < below:
            raise ConfigError(f"{name} must lie between 0 and {below}, both excluded, got {level:g}", field=name)
    return levels
