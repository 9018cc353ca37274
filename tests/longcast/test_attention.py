"""The Python face shows what a model looks at."""

from pathlib import Path

import numpy as np
import pytest

from forecast.artifact import save_artifact
from forecast.errors import ConfigError
from forecast.inspect.maps import attention_maps
from longcast import Forecaster
from tests.tiny_model import tiny_artifact, tiny_history
from tests.tiny_run import tiny_config


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Forecaster:
    folder: Path = save_artifact(tiny_artifact(num_encoder_layers=2), tmp_path_factory.mktemp("model") / "tiny")
    return Forecaster.load(folder)


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_weights_come_by_layer_head_query_and_key(loaded: Forecaster, kind: str) -> None:
    history = tiny_history()
    maps = loaded.attention(history if kind == "polars" else history.to_pandas())
    assert maps.weights.shape == (2, 2, 6, 6)
    np.testing.assert_allclose(maps.weights.sum(axis=-1), 1.0, rtol=1e-5)
    assert ((maps.entropy >= 0) & (maps.entropy <= np.log(6) + 1e-6)).all()


def test_everything_asked_for_is_handed_on(loaded: Forecaster) -> None:
    asked = {"part": "cross", "series": "b", "layers": [0], "heads": [1], "queries": [2, 0], "context_length": 12}
    maps = loaded.attention(tiny_history(), **asked)
    expected = attention_maps(loaded.artifact, tiny_history(), **asked)
    np.testing.assert_array_equal(maps.weights, expected.weights)
    assert (maps.part, maps.series, maps.layers, maps.heads) == ("cross", "b", (0,), (1,))
    assert maps.query_steps.tolist() == [4, 0]
    assert maps.key_steps.tolist() == [-12, -8, -4]


def test_looking_changes_no_forecast(loaded: Forecaster) -> None:
    before = loaded.predict(tiny_history())
    loaded.attention(tiny_history(), part="decoder")
    assert loaded.predict(tiny_history()).equals(before)


def test_a_forecaster_that_is_not_fitted_has_nothing_to_show() -> None:
    with pytest.raises(ConfigError, match="not fitted"):
        Forecaster(tiny_config()).attention(tiny_history())
