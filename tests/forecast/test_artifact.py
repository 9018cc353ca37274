"""An artifact comes back as it was saved, whole or not at all, and says what is wrong with what it cannot read."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import safetensors.torch
import torch

from forecast.artifact import CARD_FILE, WEIGHTS_FILE, load_artifact, save_artifact
from forecast.errors import ArtifactError, BackendUnavailable
from forecast.predictor import Predictor
from tests.tiny_model import tiny_artifact, tiny_history

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save_artifact(tiny_artifact(), tmp_path / "model")


def change_card(folder: Path, **changes: Any) -> None:
    file = folder / CARD_FILE
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def test_a_saved_model_forecasts_to_the_bit_what_it_forecast_before(tmp_path: Path) -> None:
    artifact = tiny_artifact()
    loaded = load_artifact(save_artifact(artifact, tmp_path / "model"))
    expected, found = (Predictor(model).predict(tiny_history(), horizon=13) for model in (artifact, loaded))
    assert found.equals(expected)
    assert found["mean"].std() > 0.01  # else any weights would do


def test_the_card_comes_back_equal(tmp_path: Path) -> None:
    artifact = tiny_artifact()
    assert load_artifact(save_artifact(artifact, tmp_path / "model")).card == artifact.card


def test_the_card_says_what_the_model_was_made_for(folder: Path) -> None:
    card = load_artifact(folder).card
    assert (card.frequency, card.season_length, card.horizon, card.context_length) == ("h", 24, 6, 24)
    assert (card.trained_until, card.num_series, card.backtest) == ("2024-03-31T01:00:00", 2, {"mase": 0.5})
    assert (card.time.kind, card.time.unit, card.time.zone) == ("datetime", "us", None)


def test_the_end_of_training_carries_its_offset_where_stamps_have_a_zone() -> None:
    assert tiny_artifact(tiny_history(zone="Europe/Berlin")).card.trained_until == "2024-03-31T01:00:00+00:00"


def test_the_end_of_training_on_integer_time_is_a_number() -> None:
    history = tiny_history(ids=("a",)).with_columns(ds=pl.int_range(pl.len()) * 5)
    card = tiny_artifact(history).card
    assert (card.trained_until, card.frequency, card.time.kind) == ("245", "5", "integer")


def test_the_draft_keeps_its_double_precision(folder: Path) -> None:
    weights = safetensors.torch.load_file(folder / WEIGHTS_FILE)
    assert weights["draft.weights"].dtype == torch.float64


def test_a_folder_holds_two_files_and_no_pickle(folder: Path) -> None:
    assert sorted(file.name for file in folder.iterdir()) == [CARD_FILE, WEIGHTS_FILE]


def test_loading_leaves_the_random_numbers_as_they_were(folder: Path) -> None:
    torch.manual_seed(3)
    expected = torch.rand(1)
    torch.manual_seed(3)
    load_artifact(folder)
    assert torch.equal(torch.rand(1), expected)


def test_a_model_on_any_device_is_saved_as_numbers_alone_and_loads_on_the_cpu(tmp_path: Path) -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    artifact = tiny_artifact()
    artifact.model.to(device)
    loaded = load_artifact(save_artifact(artifact, tmp_path / "model"))
    assert {tensor.device.type for tensor in loaded.model.state_dict().values()} == {"cpu"}


def test_saving_again_replaces_the_artifact_and_leaves_nothing_beside_it(folder: Path) -> None:
    other = tiny_artifact(horizon=4)
    save_artifact(other, folder)
    assert load_artifact(folder).card.horizon == 4
    assert list(folder.parent.iterdir()) == [folder]


def test_a_folder_of_something_else_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ArtifactError, match="is no artifact"):
        save_artifact(tiny_artifact(), tmp_path)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_a_model_that_diverged_is_not_saved(tmp_path: Path) -> None:
    artifact = tiny_artifact()
    next(artifact.model.parameters()).view(-1)[0] = torch.nan
    with pytest.raises(ArtifactError, match="not finite"):
        save_artifact(artifact, tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", [0, 100, -1])
def test_one_altered_byte_of_the_weights_is_noticed(folder: Path, place: int) -> None:
    content = bytearray((folder / WEIGHTS_FILE).read_bytes())
    content[place] ^= 1
    (folder / WEIGHTS_FILE).write_bytes(content)
    with pytest.raises(ArtifactError, match="content was altered"):
        load_artifact(folder)


def test_weights_cut_short_are_noticed_with_both_sizes(folder: Path) -> None:
    content = (folder / WEIGHTS_FILE).read_bytes()
    (folder / WEIGHTS_FILE).write_bytes(content[:1000])
    with pytest.raises(ArtifactError, match=f"is 1,000 bytes and was written with {len(content):,}: it was cut short"):
        load_artifact(folder)


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_format_is_refused_with_both_named_and_a_way_out(folder: Path, version: object) -> None:
    change_card(folder, format_version=version, key_of_the_future=1)
    with pytest.raises(ArtifactError, match=f"format {version!r} and this library reads format 1; load it with"):
        load_artifact(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": "blue"}, "colour: unknown key"),
        ({"frequency": None}, "frequency"),
        ({"model": {"context_length": 24, "horizon": 6, "head": {"kind": "tweedie"}}}, "unknown kind 'tweedie'"),
        ({"weights": {}}, "sha256: is needed"),
    ],
)
def test_a_card_that_says_something_else_is_refused_by_the_key(
    folder: Path, changes: dict[str, Any], message: str
) -> None:
    change_card(folder, **changes)
    with pytest.raises(ArtifactError, match=message):
        load_artifact(folder)


def test_weights_of_another_architecture_are_refused_by_name_and_shape(folder: Path) -> None:
    model = json.loads((folder / CARD_FILE).read_text())["model"]
    change_card(folder, model={**model, "horizon": 5})
    with pytest.raises(ArtifactError, match=r"draft.weights is float64\[24, 6\] in place of float64\[24, 5\]"):
        load_artifact(folder)


def test_weights_that_lack_tensors_are_refused_by_name(folder: Path) -> None:
    model = json.loads((folder / CARD_FILE).read_text())["model"]
    change_card(folder, model={**model, "num_encoder_layers": 2})
    with pytest.raises(ArtifactError, match=r"missing: encoder\.layers\.1"):
        load_artifact(folder)


@pytest.mark.parametrize("name", [CARD_FILE, WEIGHTS_FILE])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ArtifactError, match=name):
        load_artifact(folder)


@pytest.mark.parametrize("text", ["{", "[]", "\xff"])
def test_a_card_that_is_no_json_object_is_refused(folder: Path, text: str) -> None:
    (folder / CARD_FILE).write_bytes(text.encode("latin-1"))
    with pytest.raises(ArtifactError, match="JSON"):
        load_artifact(folder)


@pytest.mark.parametrize("device", ["warp", "cuda"])
def test_a_device_that_is_not_here_is_refused_with_what_to_do(folder: Path, device: str) -> None:
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("this machine has the device that the test wants to be absent")
    with pytest.raises(BackendUnavailable, match="cpu"):
        load_artifact(folder, device=device)


def test_an_artifact_of_format_1_stays_readable() -> None:
    """Written by version 0.1.0 and never again: what it forecast then, it forecasts now."""
    predictor = Predictor.load(FIXTURES / "artifact_v1")
    expected = pl.read_csv(FIXTURES / "artifact_v1_forecast.csv")
    found = predictor.predict(tiny_history(), quantile_levels=[0.1, 0.9])
    assert found.columns == expected.columns
    for name in ("mean", "0.1", "0.9"):
        torch.testing.assert_close(found[name].to_torch(), expected[name].to_torch(), rtol=1e-5, atol=0)
