"""The pictures of a look: a series over time, missing steps by series, autocorrelation, and how figures spread."""

import numpy as np
import polars as pl
from jaxtyping import Bool, Float64

from forecast.frames.panel import Panel
from pipelines.look.coverage import NUM_COLUMNS, Coverage
from pipelines.look.histogram import Histogram
from pipelines.look.markup import Markup, element
from pipelines.look.plot import TOP, WIDTH, Plot, Scale, counting_scale, linear_scale, log_scale, path
from pipelines.look.season import Correlation, Cycle
from pipelines.look.thin import thinned
from pipelines.look.timeline import Timeline
from pipelines.look.wording import counted, figure, percent

NUM_BINS = 800  # stretches of a line: about one a pixel
SHADES = (0.0, 0.25, 0.75, 1.0)
"""Shares of missing steps up to which a cell of the map has its shade: none, few, many, (nearly) all."""
SERIES_HEIGHT, SEASON_HEIGHT, HISTOGRAM_HEIGHT = 150.0, 190.0, 150.0
NAME_WIDTH, NAME_LETTERS = 160.0, 21  # room for the names of series beside the map
LEFTMOST = 0.02  # share of the picture from which on a cycle is marked
LARGE_ROW, SMALL_ROW, LABELLED = 14.0, 4.0, 40  # rows of the map are named where there are at most so many


def series_chart(panel: Panel, number: int) -> tuple[Markup, str]:
    """Draw one series over its own time; also say what a line of it stands for."""
    place = panel.series(number)
    observed = panel.observed[place]
    values = np.where(observed, panel.values[place], np.nan)
    steps = thinned(values, num_bins=NUM_BINS)
    timeline = Timeline.of_series(panel, number)
    plot, scale = Plot(SERIES_HEIGHT), _scale_of(values)
    moments = panel.axis.moments_at(np.full(len(steps), number, dtype=np.int64), steps=steps)
    line = path(plot.across(timeline.places(moments)), plot.up(scale.place(values[steps])))
    label = f"Series {panel.ids[number]} over time, {counted(len(values), 'step')}"
    picture = plot.picture(
        *plot.beside(scale.ticks),
        *plot.below(timeline.ticks(most=8)),
        _gaps(plot, panel, number, timeline, ~observed),
        element("path", class_="line", d=line),
        label=label,
    )
    return picture, _thinning(len(values), len(steps))


def coverage_chart(found: Coverage, panel: Panel) -> Markup:
    """Draw the share of missing steps by series and time, darker where more is missing."""
    named = len(found.numbers) <= LABELLED
    row_height = LARGE_ROW if named else SMALL_ROW
    left = NAME_WIDTH if named else 12.0
    plot = Plot(len(found.numbers) * row_height + TOP + 24.0, left=left)
    width = (plot.x(1.0) - plot.x(0.0)) / NUM_COLUMNS
    marks = [*plot.below(found.timeline.ticks(most=8))]
    shades = np.searchsorted(SHADES, found.missing - 1e-9)
    for shade in range(len(SHADES)):
        cells = np.isfinite(found.missing) & (shades == shade)
        marks.append(_cells(cells, plot, shade=shade, width=width, height=row_height))
    if named:
        marks += [
            element(
                "text", _short(str(panel.ids[number])), x=left - 6, y=TOP + (row + 0.8) * row_height, text_anchor="end"
            )
            for row, number in enumerate(found.numbers)
        ]
    return plot.picture(*marks, label="Missing steps by series and time; darker where more is missing")


def season_chart(
    found: Correlation, cycles: tuple[Cycle, ...], *, what: str, last: int, chance: float, width: float = WIDTH
) -> Markup:
    """Draw autocorrelation from lag 1 to `last`: median over series, their middle half, what chance has, and cycles."""
    lags = 1 + thinned(found.middle[1 : last + 1], num_bins=NUM_BINS)
    curves = [curve[lags] for curve in (found.low, found.middle, found.high)]
    plot, scale, axis = (
        Plot(SEASON_HEIGHT, width=width),
        _with_zero(*curves, chance=chance),
        counting_scale(last, most=7),
    )
    across = plot.across(axis.place(lags.astype(np.float64)))
    low, middle, high = (plot.up(scale.place(curve)) for curve in curves)
    edges = plot.up(scale.place(np.array([chance, -chance]))).tolist()
    return plot.picture(
        *plot.beside(scale.ticks),
        *plot.below(axis.ticks),
        element(
            "rect",
            class_="chance",
            x=plot.x(0.0),
            width=plot.x(1.0) - plot.x(0.0),
            y=edges[0],
            height=edges[1] - edges[0],
        ),
        _band(across, low, high),
        element("path", class_="line", d=path(across, middle)),
        *(mark for row, cycle in enumerate(cycles) for mark in _cycle_mark(plot, cycle, last=last, row=row)),
        label=f"Autocorrelation of {what} up to {counted(last, 'step')}",
    )


def histogram_chart(found: Histogram, *, what: str, unit: str) -> Markup:
    """Draw how many `unit` have figures in each bin."""
    plot = Plot(HISTOGRAM_HEIGHT, width=WIDTH / 2)
    low, high = float(found.edges[0]), float(found.edges[-1])
    scale = log_scale(low, high, most=6) if found.logarithmic else linear_scale(low, high, most=5)
    most = int(found.counts.max())
    heights = counting_scale(most, most=4)
    edges, foot = plot.across(scale.place(found.edges)), plot.y(0.0)
    bars = []
    for place, count in enumerate(found.counts.tolist()):
        if count:
            y = plot.y(count / most)
            told = f"{figure(found.edges[place])} to {figure(found.edges[place + 1])}: {counted(count, unit)}"
            size = {"width": float(max(edges[place + 1] - edges[place] - 0.8, 0.8)), "height": foot - y}
            bars.append(element("rect", element("title", told), class_="bar", x=float(edges[place]), y=y, **size))
    return plot.picture(*plot.beside(heights.ticks), *plot.below(scale.ticks), *bars, label=f"How {what} spread")


def legend() -> Markup:
    """Explain the shades of the map."""
    names = ("all there", "up to a quarter missing", "up to three quarters", "more")
    return element("p", *(_key(f"shade{shade}", name) for shade, name in enumerate(names)), class_="legend")


def _key(class_: str, name: str) -> Markup:
    box = element("rect", class_=class_, width=12, height=12)
    return element("span", element("svg", box, viewBox="0 0 12 12", aria_hidden="true"), f" {name}")


def _scale_of(values: Float64[np.ndarray, " step"]) -> Scale:
    seen = values[np.isfinite(values)]
    return linear_scale(float(seen.min()), float(seen.max()), most=4) if len(seen) else linear_scale(0.0, 0.0)


def _gaps(plot: Plot, panel: Panel, number: int, timeline: Timeline, missing: Bool[np.ndarray, " step"]) -> Markup:
    """Shade where steps have no value, each stretch at least as wide as can be seen."""
    edges = np.flatnonzero(np.diff(missing.astype(np.int8), prepend=0, append=0))
    firsts, ends = edges[::2], np.minimum(edges[1::2], len(missing) - 1)
    steps = np.concatenate([firsts, ends]).astype(np.int64)
    if not len(steps):
        return Markup()
    moments: pl.Series = panel.axis.moments_at(np.full(len(steps), number, dtype=np.int64), steps=steps)
    lefts, rights = np.split(np.round(plot.across(timeline.places(moments))), 2)
    stretches = _merged(lefts, np.maximum(rights, lefts + 2))
    top, bottom = plot.y(1.0), plot.y(0.0)
    boxes = "".join(f"M{left:g} {top:g}H{right:g}V{bottom:g}H{left:g}Z" for left, right in stretches)
    told = f"{counted(int(missing.sum()), 'step')} without a value ({percent(float(missing.mean()))})"
    return element("path", element("title", told), class_="gap", d=boxes)


def _merged(lefts: Float64[np.ndarray, " n"], rights: Float64[np.ndarray, " n"]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for left, right in zip(lefts.tolist(), rights.tolist(), strict=True):
        if merged and left <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(right, merged[-1][1]))
        else:
            merged.append((left, right))
    return merged


def _thinning(num_steps: int, num_points: int) -> str:
    if num_points == num_steps:
        return "every step is drawn"
    each = num_steps / NUM_BINS
    return f"{num_steps:,} steps drawn as {num_points:,} points: the lowest and the highest of every {each:,.0f}"


def _cells(cells: Bool[np.ndarray, "row column"], plot: Plot, *, shade: int, width: float, height: float) -> Markup:
    """Draw cells of one shade as one path: a stroke a run of neighbours."""
    runs = []
    for row, marked in enumerate(cells):
        edges = np.flatnonzero(np.diff(marked.astype(np.int8), prepend=0, append=0))
        y = TOP + (row + 0.5) * height
        for first, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            runs.append(f"M{plot.left + first * width:.4g} {y:g}h{(end - first) * width:.4g}")
    return element("path", class_=f"shade{shade}", d="".join(runs), stroke_width=height - min(1.0, height / 5))


def _with_zero(*curves: Float64[np.ndarray, " lag"], chance: float) -> Scale:
    """Spread what the curves hold, with 0 and what chance has in it."""
    told = np.concatenate([curve[np.isfinite(curve)] for curve in curves])
    return linear_scale(min(float(told.min()), -1.5 * chance), max(float(told.max()), 1.5 * chance), most=5)


def _band(
    across: Float64[np.ndarray, " lag"], low: Float64[np.ndarray, " lag"], high: Float64[np.ndarray, " lag"]
) -> Markup:
    told = np.isfinite(low) & np.isfinite(high)
    if not (high != low)[told].any():
        return Markup()
    around = path(np.append(across[told], across[told][::-1]), np.append(low[told], high[told][::-1]))
    return element("path", class_="band", d=f"{around}Z")


def _cycle_mark(plot: Plot, cycle: Cycle, *, last: int, row: int) -> list[Markup]:
    """Mark a cycle where it can be told from the left edge; the names stand below each other."""
    place = cycle.lag / last
    if not LEFTMOST <= place <= 1:
        return []
    x, is_right = plot.x(place), place > 0.7
    return [
        element("line", class_="mark", x1=x, x2=x, y1=plot.y(1.0), y2=plot.y(0.0)),
        element(
            "text",
            str(cycle),
            class_="marked",
            x=x + (-4 if is_right else 4),
            y=TOP + 10 + 14 * row,
            text_anchor="end" if is_right else "start",
        ),
    ]


def _short(name: str) -> str:
    return name if len(name) <= NAME_LETTERS else f"{name[: NAME_LETTERS - 1]}…"
