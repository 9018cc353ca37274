"""Heat maps of attention: who looks at whom, a small picture a layer and head, on axes of time."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.ticker import MaxNLocator

from forecast.inspect.maps import AttentionMaps
from pipelines.pictures import DPI, INK, MUTED

CELL, MARGIN = 2.2, 1.3  # inches of a picture, and around all
SHOWN = 99.0  # per cent of the weights above 0 that colours tell apart: one large one would leave all others dark
TITLES = {
    "encoder": "Tokens of the context look at each other",
    "channels": "Targets look at each other",
    "decoder": "Tokens of the horizon look at each other",
    "cross": "Tokens of the horizon look at the context",
}
STEP, TARGET = "step from the forecast's first", "target"


def heat_maps(maps: AttentionMaps, *, channels: tuple[str, ...] = ()) -> Figure:
    """Draw one map a layer (row) and head (column); its title gives the mean entropy of its rows in nats.

    Colours are the same in all. `channels` names the targets, for part 'channels'.
    """
    num_layers, num_heads = maps.weights.shape[:2]
    size = MARGIN + CELL * num_heads, MARGIN + CELL * num_layers
    figure = Figure(figsize=size, dpi=DPI, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    figure.suptitle(f"{TITLES[maps.part]}: {maps.series}", x=0.01, ha="left", fontsize=11, fontweight="bold", color=INK)
    axes = figure.subplots(num_layers, num_heads, squeeze=False, sharex=True, sharey=True)
    brightest = float(np.percentile(maps.weights[maps.weights > 0], SHOWN))
    drawn: AxesImage | None = None
    for row, layer in enumerate(maps.layers):
        for column, head in enumerate(maps.heads):
            drawn = _draw(axes[row, column], maps, row, column, brightest=brightest)
            title = f"layer {layer}, head {head}, {maps.entropy[row, column].mean():.2f} nats"
            axes[row, column].set_title(title, loc="left", fontsize=8, color=INK)
    _label(axes, maps, channels)
    assert drawn is not None, "maps hold a layer and a head at least"
    figure.colorbar(drawn, ax=axes, label="weight", extend="max", shrink=0.8).ax.tick_params(labelsize=7)
    return figure


def _draw(ax: Axes, maps: AttentionMaps, row: int, column: int, *, brightest: float) -> AxesImage:
    weights = maps.weights[row, column]
    ax.tick_params(colors=MUTED, labelcolor=INK, labelsize=7)
    return ax.imshow(weights, aspect="auto", cmap="viridis", vmin=0.0, vmax=brightest, interpolation="none")


def _label(axes: np.ndarray, maps: AttentionMaps, channels: tuple[str, ...]) -> None:
    """Write places along the outer axes."""
    name = TARGET if maps.part == "channels" else STEP
    for ax, places, axis in ((axes[-1, 0], maps.key_steps, "x"), (axes[0, 0], maps.query_steps, "y")):
        words = channels or tuple(str(place) for place in places.tolist())
        ticks = _ticks(len(places), most=len(places) if channels else 5)
        getattr(ax, f"set_{axis}ticks")(ticks, [words[tick] for tick in ticks])
    for ax in axes[-1]:
        ax.set_xlabel(f"looked at: {name}" if ax is axes[-1, 0] else "", fontsize=8)
    axes[len(axes) // 2, 0].set_ylabel(f"looks: {name}", fontsize=8)


def _ticks(count: int, *, most: int) -> list[int]:
    inside = (int(tick) for tick in MaxNLocator(nbins=max(most, 1), integer=True).tick_values(0, max(count - 1, 1)))
    return [tick for tick in inside if 0 <= tick < count]
