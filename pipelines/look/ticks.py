"""Round numbers to write beside a picture."""

import math

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


def round_numbers(low: float, high: float, *, most: int) -> list[float]:
    """Give at most `most` multiples of a round number between two ends, these included; one where they are equal."""
    span = high / most - low / most  # the difference of the largest numbers would overflow
    if not span > 0 or not math.isfinite(span):
        return [low]
    power = 10.0 ** math.floor(math.log10(span))
    step = next(power * size for size in STEPS if power * size >= span * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [number * step for number in range(first, last + 1)]


def decades(low: float, high: float, *, most: int) -> list[float]:
    """Give powers of ten between two ends above 0, at most about `most`."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    every = max(1, math.ceil((last - first + 1) / most))
    return [float(f"1e{power}") for power in range(first, last + 1, every)]
