"""The registry finds versions by number and alias, brings artifacts here once, and says what there is instead."""

from pathlib import Path

import pytest
from mlflow import MlflowClient

from forecast.artifact import WEIGHTS_FILE, save_artifact
from forecast.errors import ArtifactError, ModelNotFound, RegistryError
from forecast.predictor import Predictor
from forecast.registry import Registry
from forecast.store import shown
from pipelines.store import ensure_store
from tests.tiny_model import tiny_artifact


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    """Two models: `load` of two versions, the first champion; `price` of one and no alias."""
    folder = tmp_path_factory.mktemp("registry")
    uri = f"sqlite:///{folder / 'mlflow.db'}"
    ensure_store(uri)
    save_artifact(tiny_artifact(), folder / "logged" / "artifacts" / "artifact")
    (folder / "foreign").mkdir()
    client = MlflowClient(tracking_uri=uri, registry_uri=uri)
    for name, source in (("load", "logged"), ("load", "foreign"), ("price", "logged")):
        if source != "foreign":
            client.create_registered_model(name)
        client.create_model_version(name, source=(folder / source).as_uri())
    client.set_registered_model_alias("load", "champion", "1")
    return Registry(uri)


@pytest.mark.parametrize("reference", ["load", "load@champion", "load/1"])
def test_a_version_is_found_by_name_alias_or_number(registry: Registry, reference: str) -> None:
    found = registry.resolve(reference)
    assert (found.name, found.version, found.aliases, found.reference) == ("load", 1, ("champion",), "load/1")
    assert found.created.utcoffset() is not None


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("wind", "no model 'wind'; there are load/2, load/1, price/1"),
        ("load/7", "no version 7 of a model 'load'; there are load/2"),
        ("wind/1", "no version 1 of a model 'wind'"),
        ("load@rival", r"model 'load' has no 'rival'; it has champion \(version 1\)"),
        ("price", "model 'price' has no 'champion'; it has no aliases; promote a version, or name one: price/1"),
        ("load/newest", "load/newest names no version"),
        ("load/99999999999", "names no version"),
        ("", "no model ''"),
    ],
)
def test_what_is_not_there_is_answered_with_what_is(registry: Registry, reference: str, message: str) -> None:
    with pytest.raises(ModelNotFound, match=message):
        registry.resolve(reference)


def test_all_versions_are_listed_with_their_aliases(registry: Registry) -> None:
    listed = [(version.reference, version.aliases) for version in registry.models()]
    assert listed == [("load/2", ()), ("load/1", ("champion",)), ("price/1", ())]


def test_an_alias_moves_from_one_version_to_another(registry: Registry) -> None:
    for number in (1, 2):
        registry.set_alias(registry.resolve(f"load/{number}"), "trial")
        assert registry.resolve("load@trial").version == number


def test_tags_stand_beside_those_that_were_there(registry: Registry) -> None:
    version = registry.resolve("price/1")
    registry.set_tags(version, {"decision": "declined"})
    registry.set_tags(version, {"reasons": "worse\nslower"})
    assert registry.resolve("price/1").tags == {"decision": "declined", "reasons": "worse\nslower"}


def test_an_artifact_is_fetched_once_and_serves(registry: Registry, tmp_path: Path) -> None:
    version = registry.resolve("load")
    folder = registry.download(version, cache=tmp_path)
    fetched_at = (folder / WEIGHTS_FILE).stat().st_mtime_ns
    assert Predictor.load(registry.download(version, cache=tmp_path)).card.name == "tiny"
    assert (folder / WEIGHTS_FILE).stat().st_mtime_ns == fetched_at
    assert [entry.name for entry in tmp_path.iterdir()] == [folder.name]


def test_what_was_altered_in_the_cache_is_noticed_when_it_is_loaded(registry: Registry, tmp_path: Path) -> None:
    folder = registry.download(registry.resolve("load"), cache=tmp_path)
    (folder / WEIGHTS_FILE).write_bytes(b"")
    with pytest.raises(ArtifactError, match="cut short"):
        Predictor.load(registry.download(registry.resolve("load"), cache=tmp_path))


def test_a_version_that_this_library_did_not_log_is_refused_and_leaves_no_folder(
    registry: Registry, tmp_path: Path
) -> None:
    with pytest.raises(RegistryError, match="load/2"):
        registry.download(registry.resolve("load/2"), cache=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_store_that_is_not_there_is_not_made_by_looking(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="train a model first"):
        Registry(f"sqlite:///{tmp_path / 'absent.db'}").models()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("uri", ["sqlite://", "sqlite:///:memory:", "sqlite:relative.db"])
def test_an_address_that_names_no_file_is_refused_with_the_spelling(uri: str) -> None:
    with pytest.raises(RegistryError, match=r"sqlite:///relative\.db"):
        Registry(uri).models()


def test_a_file_that_is_no_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a text of more than sixteen characters")
    with pytest.raises(RegistryError, match="not an SQLite file"):
        Registry(f"sqlite:///{tmp_path / 'notes.txt'}").models()


def test_a_server_that_does_not_answer_is_a_registry_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(RegistryError, match=r"'http://127\.0\.0\.1:1' does not answer"):
        Registry("http://127.0.0.1:1").models()


def test_a_password_in_an_address_is_not_shown() -> None:
    assert shown("postgresql://longcast:secret@db/mlflow") == "postgresql://***@db/mlflow"
