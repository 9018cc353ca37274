"""The frame of a picture in SVG: where values fall on it, its grid and its marks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from pipelines.look.markup import Markup, element
from pipelines.look.ticks import decades, round_numbers
from pipelines.look.timeline import Tick
from pipelines.look.wording import figure

WIDTH = 960.0  # units of the picture; it is drawn as wide as the page, so these are about pixels
LEFT, RIGHT, TOP, BOTTOM = 64.0, 12.0, 10.0, 24.0  # room around the frame
CAPTION = 16.0  # room for the name of the axis


@dataclass(frozen=True)
class Plot:
    """A frame whose places run from 0 to 1, from the left and from the bottom."""

    height: float
    width: float = WIDTH
    left: float = LEFT
    bottom: float = BOTTOM

    def across(self, places: Float64[np.ndarray, " n"]) -> Float64[np.ndarray, " n"]:
        """Give where places from 0 to 1 are drawn across."""
        return self.left + places * (self.width - self.left - RIGHT)

    def up(self, places: Float64[np.ndarray, " n"]) -> Float64[np.ndarray, " n"]:
        """Give where places from 0 (the bottom) to 1 are drawn."""
        return self.height - self.bottom - places * (self.height - TOP - self.bottom)

    def x(self, place: float) -> float:
        """Give where one place is drawn across."""
        return float(self.across(np.array([place]))[0])

    def y(self, place: float) -> float:
        """Give where one place is drawn upwards."""
        return float(self.up(np.array([place]))[0])

    def below(self, ticks: Sequence[Tick]) -> list[Markup]:
        """Draw marks under the frame, and a line up from each."""
        drawn = []
        for tick in ticks:
            x, foot = self.x(tick.place), self.y(0.0)
            anchor = "end" if x > self.width - 30 else "start" if x < self.left + 20 else "middle"
            drawn.append(element("line", class_="grid", x1=x, x2=x, y1=self.y(1.0), y2=foot))
            drawn.append(element("text", tick.text, x=x, y=foot + 15, text_anchor=anchor))
        return drawn

    def beside(self, ticks: Sequence[Tick]) -> list[Markup]:
        """Draw marks to the left of the frame, and a line across from each."""
        drawn = []
        for tick in ticks:
            y = self.y(tick.place)
            drawn.append(element("line", class_="grid", x1=self.x(0.0), x2=self.x(1.0), y1=y, y2=y))
            drawn.append(element("text", tick.text, x=self.left - 6, y=y + 4, text_anchor="end"))
        return drawn

    def picture(self, *content: str, label: str) -> Markup:
        """Give the whole picture; `label` says to who cannot see it what it shows."""
        size = f"0 0 {self.width:.0f} {self.height:.0f}"
        return element("svg", element("title", label), *content, viewBox=size, role="img", aria_label=label)


@dataclass(frozen=True)
class Scale:
    """Values as places from 0 to 1, with the round values to write beside them."""

    place: Callable[[Float64[np.ndarray, " n"]], Float64[np.ndarray, " n"]]
    ticks: list[Tick]


def linear_scale(low: float, high: float, *, most: int = 5) -> Scale:
    """Spread values between two ends evenly; where these are equal, everything lies in the middle."""
    half = high / 2 - low / 2  # the difference of the largest numbers would overflow

    def place(values: Float64[np.ndarray, " n"]) -> Float64[np.ndarray, " n"]:
        return (values / 2 - low / 2) / half if half > 0 else np.where(np.isnan(values), np.nan, 0.5)

    values = round_numbers(low, high, most=most)
    return Scale(place, [Tick(float(place(np.array([value]))[0]), figure(value)) for value in values])


def counting_scale(high: int, *, most: int = 5) -> Scale:
    """Spread whole numbers from 0 to `high` evenly."""
    scale = linear_scale(0.0, float(max(high, 1)), most=most)
    return Scale(scale.place, [tick for tick in scale.ticks if _is_whole(tick.place * max(high, 1))])


def log_scale(low: float, high: float, *, most: int = 8) -> Scale:
    """Spread values above 0 between two ends by their ratios."""
    bottom, span = np.log10(low), max(np.log10(high) - np.log10(low), 1e-9)

    def place(values: Float64[np.ndarray, " n"]) -> Float64[np.ndarray, " n"]:
        return (np.log10(values) - bottom) / span

    values = decades(low, high, most=most)
    return Scale(place, [Tick(float(place(np.array([value]))[0]), figure(value)) for value in values])


def path(across: Float64[np.ndarray, " n"], up: Float64[np.ndarray, " n"]) -> str:
    """Give the line through points as SVG writes it; it breaks at NaN, and a point alone is a dot."""
    written, drawing = list[str](), False
    told = np.isfinite(up).tolist()
    for number, (x, y, is_told) in enumerate(zip(across.tolist(), up.tolist(), told, strict=True)):
        if is_told:
            written.append(f"{'L' if drawing else 'M'}{x:.5g} {y:.5g}")
            if not drawing and not (number + 1 < len(told) and told[number + 1]):
                written.append("h0")  # with round ends a line of no length shows
        drawing = is_told
    return "".join(written)


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < 1e-6 * max(number, 1.0)
