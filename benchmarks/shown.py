"""One line an item: what was shown, what it should be, and whether it is."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Shown:
    """One figure beside its aim."""

    name: str
    figure: str
    aim: str
    met: bool | None
    """None where it was left out."""

    def __str__(self) -> str:
        """Give the line."""
        verdict = {True: "met", False: "missed", None: "not shown"}[self.met]
        return f"{self.name}: {self.figure} ({self.aim}) {verdict}"


def at_most(name: str, figure: float, bound: float, *, digits: int = 3) -> Shown:
    """Show a figure that must not lie above a bound; both are compared as they are, not as printed."""
    met = math.isfinite(figure) and figure <= bound
    return Shown(name, f"{figure:.{digits}g}", f"at most {bound:.{digits}g}", met)


def below(name: str, figure: float, rival: float, *, of: str) -> Shown:
    """Show a figure that must lie below a rival's."""
    return Shown(name, f"{figure:.4f}", f"below {rival:.4f} of {of}", figure < rival)


def holds(name: str, figure: str, aim: str, *, met: bool | None) -> Shown:
    """Show something that is so or not."""
    return Shown(name, figure, aim, met)


def report(parts: Iterable[Callable[[], Iterable[Shown]]]) -> bool:
    """Run the parts one after the other, print their lines as they come, and tell whether all aims were met."""
    met = True
    for part in parts:
        for shown in part():
            print(shown, flush=True)
            met = met and shown.met is not False
    return met
