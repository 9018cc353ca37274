"""`longcast serve` answers from the champion that its configuration means, without the training stack."""

import subprocess
import sys
from pathlib import Path

import pytest

from forecast.artifact import load_artifact
from forecast.errors import ConfigError, LongcastError
from forecast.predictor import Predictor
from longcast.service import local_service
from longcast.serving import served
from pipelines.sources import SineSource
from tests.tiny_run import NAME, TinyChampion


def test_the_service_is_the_one_that_the_configuration_means(champion: TinyChampion) -> None:
    assert served(champion.file, [], reference=None) == {"tracking_uri": champion.config.tracking_uri, "model": NAME}


def test_an_override_changes_what_is_served(champion: TinyChampion) -> None:
    assert served(champion.file, ["name=other"], reference=None)["model"] == "other"


def test_a_reference_chooses_another_model_of_the_same_store(champion: TinyChampion) -> None:
    asked = served(champion.file, [], reference="other/3")
    assert asked == {"tracking_uri": champion.config.tracking_uri, "model": "other/3"}


def test_a_folder_is_served_without_a_store(champion: TinyChampion) -> None:
    folder = champion.folder / "artifact"
    assert served(champion.file, [], reference=str(folder)) == {"artifact": folder}
    assert served(None, [], reference=str(folder)) == {"artifact": folder}


def test_without_a_configuration_the_environment_decides() -> None:
    assert served(None, [], reference=None) == {}
    with pytest.raises(ConfigError, match="none was given"):
        served(None, ["name=other"], reference=None)


@pytest.mark.e2e
def test_what_a_service_needs_to_know_costs_no_training_stack(repository: Path) -> None:
    code = "import sys, longcast.serving; print({name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    assert "torch" in done.stdout
    assert not [name for name in ("lightning", "mlflow", "matplotlib") if f"'{name}'" in done.stdout]


@pytest.mark.e2e
def test_the_service_answers_with_the_champions_forecast(
    champion: TinyChampion, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(repository))
    history = SineSource().read().tail(40)
    series = {"unique_id": ["sine"], "sizes": [40], "start": [history["ds"][0]], "y": history["y"].to_list()}
    with local_service(champion.file) as service:
        answer = service.ask("/v1/forecasts", {"horizon": 5, "series": series})
        models = service.ask("/v1/models")
    expected = Predictor(load_artifact(champion.folder / "artifact")).predict(history, horizon=5)
    assert answer["series"]["mean"] == pytest.approx(expected["mean"].to_list(), rel=1e-5)
    assert NAME in str(models)


def test_a_service_that_ends_before_it_is_ready_says_how_to_see_why() -> None:
    told = pytest.raises(LongcastError, match=r"status 2; to see why, type: .* serve --no-configuration --port \d+$")
    with told, local_service(Path("--no-configuration")):
        pass
