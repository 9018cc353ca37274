"""Devices, batches and artifacts: the same numbers in any company and process, from files that last, with no trace."""

import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from forecast.predictor import Predictor
from longcast import Forecaster
from pipelines.windows import WindowIndex
from tests.contract.faces import CLOSE, CURRENT, INPUTS, Room, everywhere
from tests.contract.inputs import FEW, MORE, RANDOMS, SEEDS, frame_of, lengths
from tests.contract.table import FRAMES, covers
from tests.tiny_run import tiny_config

Rooms = Callable[..., Room]


def close(left: np.ndarray, right: np.ndarray) -> bool:
    return np.allclose(left, right, rtol=CLOSE, atol=CLOSE * np.abs(left).max())


@covers("batch-alone")
@MORE
@given(lengths(1, 60), SEEDS, RANDOMS)
def test_a_series_alone_is_forecast_as_in_company(room: Room, chosen: dict[str, int], seed: int, random: Any) -> None:
    company = frame_of({**chosen, "me": 40}, seed=seed)

    together = everywhere(room, company, random=random)
    alone = everywhere(room, company.filter(unique_id="me"))

    assert close(together.of("me")[:, 2:].to_numpy(), alone.numbers)


@covers("batch-seed")
@FEW
@given(st.integers(0, 10_000), st.integers(0, 100))
def test_the_same_seed_gives_the_same_weights_to_the_bit(seed: int, before: int) -> None:
    INPUTS[CURRENT[0]] += 1
    frame = frame_of({"a": 80, "b": 60})
    config = tiny_config(
        f"seed={seed}", "trainer.max_steps=2", "trainer.device=cpu", "trainer.validation_stride=1", "model.horizon=4"
    )

    def weights() -> dict[str, bytes]:
        torch.manual_seed(before)
        state = Forecaster(config).fit(frame).artifact.model.state_dict()
        return {name: tensor.numpy().tobytes() for name, tensor in state.items()}

    assert weights() == weights()


@covers("artifact-device")
@pytest.mark.parametrize("device", ["cpu", torch.device("cpu"), "meta"])
def test_the_device_is_chosen_when_a_model_is_loaded(room: Room, device: Any) -> None:
    INPUTS[CURRENT[0]] += 1
    model = Predictor.load(room.folder / "artifact", device=device).artifact.model
    assert {tensor.device for tensor in model.state_dict().values()} == {torch.device(device)}


@covers("artifact-format")
def test_the_first_artifact_that_was_kept_still_forecasts_the_same(repository: Path) -> None:
    INPUTS[CURRENT[0]] += 1
    kept = pl.read_csv(repository / "tests/fixtures/artifact_v1_forecast.csv")
    predictor = Predictor.load(repository / "tests/fixtures/artifact_v1")
    assert predictor.card.format_version == 1
    assert len(kept) > 0
    assert {file.suffix for file in (repository / "tests/fixtures/artifact_v1").iterdir()} <= {
        ".json",
        ".safetensors",
        ".yaml",
    }


@covers("artifact-enough")
@FEW
@given(st.integers(0, 20_000), SEEDS, RANDOMS)
def test_the_forecast_follows_the_frame_not_the_training(room: Room, hours: int, seed: int, random: Any) -> None:
    frame = frame_of({"new": 30}, seed=seed).with_columns(pl.col("ds") + pl.duration(hours=hours))

    answer = everywhere(room, frame, random=random)

    assert answer.frame["ds"][0] == frame["ds"][-1] + (frame["ds"][-1] - frame["ds"][-2])
    assert sorted(file.name for file in (room.folder / "artifact").iterdir()) == [
        "artifact.json",
        "weights.safetensors",
    ]


@covers("windows-lazy")
@FEW
@given(st.integers(1, 1_000), st.integers(10_000, 100_000), st.integers(1, 7))
def test_an_index_of_many_windows_takes_memory_for_its_series_alone(num_series: int, length: int, stride: int) -> None:
    INPUTS[CURRENT[0]] += 1
    tracemalloc.start()
    ends = np.full(num_series, length)
    index = WindowIndex(first=np.full(num_series, 512), last=ends - 96, ends=ends, stride=stride)
    series, origins = index.locate(np.array([0, len(index) - 1]))
    used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert len(index) == num_series * ((length - 96 - 512) // stride + 1)
    assert series.tolist() == [0, num_series - 1]
    assert origins[0] == 512
    assert used < 200 * num_series + 100_000


@covers("request-path")
def test_no_trainer_is_loaded_by_a_forecast(room: Room, tmp_path: Path, repository: Path) -> None:
    INPUTS[CURRENT[0]] += 1
    frame_of({"a": 30}).write_parquet(tmp_path / "a.parquet")
    code = f"""
import sys, polars
from forecast.predictor import Predictor
Predictor.load({str(room.folder / "artifact")!r}).predict(polars.read_parquet({str(tmp_path / "a.parquet")!r}))
import api.app
print(sorted({{name.partition(".")[0] for name in sys.modules}} & {{"lightning", "pytorch_lightning", "ray"}}))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@covers("nothing-written")
def test_nothing_is_written_or_printed_where_one_works(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    frame = frame_of({"a": 80, "b": 60})
    monkeypatch.chdir(tmp_path)

    Forecaster(tiny_config("trainer.max_steps=2", "trainer.validation_stride=1", "model.horizon=4")).fit(frame).predict(
        frame
    )
    everywhere(room, frame, faces=FRAMES)

    assert not list(tmp_path.iterdir())
    assert capfd.readouterr() == ("", "")
