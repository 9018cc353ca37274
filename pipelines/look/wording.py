"""Figures, shares and lengths of time as people read them."""

import math
from datetime import timedelta

PLAIN_FROM, PLAIN_TO = 1e-3, 1e7  # figures outside are written with an exponent
DIGITS = 4  # that count


def figure(value: float) -> str:
    """Write a figure with four digits that count, more where a whole number is larger; a dash where it is undefined."""
    if not math.isfinite(value):
        return "-"
    size = abs(value)
    if size == 0:
        return "0"
    if not PLAIN_FROM <= size < PLAIN_TO:
        return f"{value:.{DIGITS - 1}e}"
    decimals = max(0, DIGITS - 1 - math.floor(math.log10(size)))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float) -> str:
    """Write a share in per cent; what is not nothing never looks like it, nor what is not all like all."""
    if not math.isfinite(share):
        return "-"
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    if share < 0.0005:
        return "<0.1%"
    return ">99.9%" if share > 0.9995 else f"{share:.1%}".replace(".0%", "%")


def duration(length: timedelta) -> str:
    """Write a length of time in its largest whole unit (7 days, 90 minutes), else in a unit and tenths."""
    seconds = length.total_seconds()
    units = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))
    for unit, size in units:
        if seconds >= size and seconds % size == 0:
            return counted(int(seconds // size), unit)
    unit, size = next((known for known in units if seconds >= known[1]), ("second", 1))
    return f"{seconds / size:,.4g} {unit}s"


def counted(number: int, thing: str) -> str:
    """Write a number of things: 1 step, 2 steps, 3 series."""
    return f"{number:,} {thing}{'' if number == 1 or thing.endswith('s') else 's'}"
