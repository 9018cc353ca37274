"""The values that a transform can take: all from a lowest one on."""

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Domain:
    """All values above `lowest`, and `lowest` itself where it is `closed`."""

    lowest: float = -math.inf
    closed: bool = True

    @property
    def is_everything(self) -> bool:
        """True where no value lies outside."""
        return self.lowest == -math.inf

    def holds(self, values: Any) -> Any:
        """Tell of each value of an array or a tensor whether it lies inside."""
        return values >= self.lowest if self.closed else values > self.lowest

    def __str__(self) -> str:
        """Give it as a message names it."""
        if self.is_everything:
            return "any value"
        return f"values of {self.lowest:g} or more" if self.closed else f"values above {self.lowest:g}"
