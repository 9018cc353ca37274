"""Heat maps show every layer and head in one scale of colours, placed in time."""

import io

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from forecast.inspect.maps import AttentionMaps
from pipelines.attention_pictures import heat_maps

LAYERS, HEADS, QUERIES, KEYS = (1, 4), (0, 2, 3), 7, 30


def maps(part: str = "encoder", *, count: int = KEYS, window: int | None = None) -> AttentionMaps:
    random = np.random.default_rng(3)
    weights = random.random((len(LAYERS), len(HEADS), QUERIES, count))
    if window is not None:
        weights[..., window:] = 0.0
    weights = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
    return AttentionMaps(
        part=part,
        series="a",
        layers=LAYERS,
        heads=HEADS,
        queries=np.arange(QUERIES),
        query_steps=np.arange(-4 * QUERIES, 0, 4),
        key_steps=np.arange(-4 * count, 0, 4),
        weights=weights,
    )


def images(figure) -> list:
    return [ax.get_images()[0] for ax in figure.axes if ax.get_images()]


def test_there_is_a_map_a_layer_and_head_and_its_title_says_which_and_how_widely_it_looks() -> None:
    shown = maps()
    figure = heat_maps(shown)
    assert len(images(figure)) == 6
    np.testing.assert_array_equal(images(figure)[4].get_array(), shown.weights[1, 1])
    titles = [ax.get_title(loc="left") for ax in figure.axes[:6]]
    assert titles[4] == f"layer 4, head 2, {shown.entropy[1, 1].mean():.2f} nats"
    assert len(set(titles)) == 6
    assert "context look at each other: a" in figure.get_suptitle()


def test_all_maps_have_one_scale_of_colours_from_zero() -> None:
    limits = {image.get_clim() for image in images(heat_maps(maps()))}
    ((low, high),) = limits
    assert low == 0.0
    assert high == pytest.approx(np.percentile(maps().weights, 99), rel=1e-6)


def test_keys_that_nobody_sees_do_not_darken_the_others() -> None:
    (_, high) = images(heat_maps(maps(count=1000, window=3)))[0].get_clim()
    assert high > 0.3


def test_axes_are_labelled_by_steps() -> None:
    shown = maps()
    figure = heat_maps(shown)
    bottom, top = figure.axes[3], figure.axes[0]
    for labels, ticks, steps in (
        (bottom.get_xticklabels(), bottom.get_xticks(), shown.key_steps),
        (top.get_yticklabels(), top.get_yticks(), shown.query_steps),
    ):
        assert 3 <= len(labels) <= 7
        assert [label.get_text() for label in labels] == [str(steps[int(tick)]) for tick in ticks]
    assert bottom.get_xlabel() == "looked at: step from the forecast's first"


def test_targets_are_labelled_by_name() -> None:
    figure = heat_maps(maps("channels", count=QUERIES), channels=tuple("abcdefg"))
    assert [label.get_text() for label in figure.axes[3].get_xticklabels()] == list("abcdefg")
    assert figure.axes[3].get_xlabel() == "looked at: target"


@pytest.mark.parametrize("count", [1, 2, 500])
def test_a_map_of_any_width_is_drawn_without_a_window_system(count: int) -> None:
    figure = heat_maps(maps("cross", count=count))
    assert isinstance(figure.canvas, FigureCanvasAgg)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    assert buffer.getvalue().startswith(b"\x89PNG")
