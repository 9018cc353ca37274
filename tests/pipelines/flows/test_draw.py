"""What a trained model looks at is drawn, and logged where the run asks for it."""

from collections.abc import Callable
from pathlib import Path

import mlflow
import numpy as np
import pytest

from forecast.frames.panel import Panel
from pipelines.flows import draw
from pipelines.flows.draw import draw_attention
from pipelines.flows.train import train
from tests.tiny_model import CONTEXT_LENGTH, tiny_model
from tests.tiny_run import TinyChampion, tiny_config


def shapes(panel: Panel, **changes: object) -> dict[str, tuple[int, ...]]:
    pictures = draw_attention(panel, tiny_model(draft=None, **changes).eval())
    return {name: picture.axes[0].get_images()[0].get_array().shape for name, picture in pictures.items()}


def test_each_part_of_the_model_has_its_picture(waves: Panel) -> None:
    tokens, horizon = CONTEXT_LENGTH // 4, 3
    assert shapes(waves) == {
        "attention_encoder": (tokens, tokens),
        "attention_decoder": (horizon, horizon),
        "attention_cross": (horizon, tokens),
    }


def test_of_many_queries_as_many_are_drawn_as_are_seen(waves: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw, "MOST_QUERIES", 5)
    assert shapes(waves, patch_length=1)["attention_encoder"] == (5, CONTEXT_LENGTH)


def test_a_series_shorter_than_the_context_is_drawn_as_long_as_it_is(panel_of: Callable[..., Panel]) -> None:
    panel = panel_of(a=np.sin(np.arange(9.0)))
    assert shapes(panel)["attention_encoder"] == (3, 3)


def test_a_run_that_asks_for_them_logs_them(champion: TinyChampion) -> None:
    place = (f"tracking.uri={champion.config.tracking_uri}", f"output={champion.config.output}")
    trained = train(tiny_config(*place, "attention_maps=true", "trainer.max_epochs=1", "name=looked_at"))
    run = mlflow.MlflowClient(tracking_uri=champion.config.tracking_uri).get_run(trained.version.run_id)
    files = Path(run.info.artifact_uri.removeprefix("file://")) / "pictures"
    assert {file.name for file in files.iterdir()} == {
        "attention_cross.png",
        "attention_decoder.png",
        "attention_encoder.png",
        "error_by_horizon.png",
        "forecasts.png",
    }
    assert run.data.params["attention_maps"] == "True"
